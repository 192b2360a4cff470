import Foundation

/// The content of the folder of a file, with all subfolders: the kinds and permissions of all items, and the bytes of
/// files.
package struct FolderListing: Equatable {
  private let entries: [String: String]

  package var names: Set<String> { Set(entries.keys) }

  package init(around path: String) throws {
    let folder = (path as NSString).deletingLastPathComponent
    var entries: [String: String] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      let path = folder + "/" + name
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      let kind = attributes[.type] as? FileAttributeType
      let mode = attributes[.posixPermissions] as? Int ?? 0
      var text = "\(kind?.rawValue ?? "") \(String(mode, radix: 8))"
      if kind == .typeRegular, let bytes = FileManager.default.contents(atPath: path) {
        text += " \(bytes.base64EncodedString())"
      }
      entries[name] = text
    }
    self.entries = entries
  }
}
