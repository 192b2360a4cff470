import Foundation
import RealmStorage

/// The paths of an app's files:
///
///     <root>/mongodb-realm/<app>/server-utility/metadata/sync_metadata.realm
///     <root>/mongodb-realm/<app>/<user>/flx_sync_default.realm
///     <root>/mongodb-realm/<app>/<user>/<partition>.realm
///     <root>/mongodb-realm/<app>/<hash>.realm
///     <root>/mongodb-realm/<app>/recovered-realms/recovered_realm-<id>.realm
///
/// Names are percent-encoded. The name of a partition is its value as extended JSON. `<hash>` is used if the name or path of a
/// file would be too long for file systems: it is the BLAKE2b hash (32 bytes, in hexadecimal digits) of the path below
/// `mongodb-realm` that the file would have had.
struct SyncPaths: Sendable {
  /// Which objects a file has: those of its subscriptions, or those of a partition.
  enum Content: Sendable {
    case flexible
    case partition(AnyBSON)

    /// The name of the file without `.realm`.
    fileprivate var name: String {
      switch self {
      case .flexible: "flx_sync_default"
      case .partition(let value): SyncPaths.encoded(ExtendedJSON.text(value))
      }
    }
  }

  /// The path of the folder that has the folder `mongodb-realm`, without a slash at the end.
  private let root: String
  private let appID: String

  init(_ rootDirectory: URL, appID: String) {
    root = rootDirectory.standardizedFileURL.path
    self.appID = appID
  }

  /// The folder of all files of the app.
  var app: String { "\(root)/mongodb-realm/\(Self.encoded(appID))" }
  var metadataFolder: String { "\(app)/server-utility/metadata" }
  var metadata: String { "\(metadataFolder)/sync_metadata.realm" }
  /// The file that has the key of the metadata if the app's configuration gives none.
  var key: String { "\(metadataFolder)/key" }
  /// The folder of files that were put aside because their changes could not be uploaded.
  var recovered: String { "\(app)/recovered-realms" }
  func folder(of userID: String) -> String { "\(app)/\(Self.encoded(userID))" }

  /// A new path in `recovered`, at which there is no file yet.
  func newRecovered() -> String { "\(recovered)/recovered_realm-\(ObjectId.generate().stringValue).realm" }

  /// The file of a user's realm. It makes the folder of the file. If a file exists under one of the names that the realm may
  /// have, it is that file.
  func file(of userID: String, _ content: Content) -> URL {
    let folder = self.folder(of: userID)
    let bare = "\(folder)/\(content.name)"
    let whole = bare + ".realm"
    let hashed = "\(app)/\(Self.hash(String(whole.dropFirst("\(root)/mongodb-realm/".count)))).realm"
    let path =
      [bare, whole, hashed].first { Self.isFile($0) }
      ?? (Self.isShort(whole) && Self.makeFolder(folder) ? whole : hashed)
    if path == hashed { _ = Self.makeFolder(app) }
    return URL(fileURLWithPath: path)
  }

  // MARK: - Stored paths

  /// The stored form of a path. It is relative to the root if the path is below the root, because systems may give each version
  /// of an app another root.
  func stored(_ path: String) -> String {
    path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : path
  }

  /// The path of a stored form.
  func path(ofStored stored: String) -> String { stored.hasPrefix("/") ? stored : "\(root)/\(stored)" }

  // MARK: - Names

  /// Whether a text can be the id of a user. Ids come from the server, and become names of folders.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longestID && text != "." && text != ".."
      && !folders.contains(text.lowercased())
  }

  private static let longestID = 1024
  /// The names of folders that an app has beside the folders of its users.
  private static let folders: Set = ["recovered-realms", "server-utility"]
  /// The longest name of a realm file, in bytes. File systems allow 255 bytes, and the files beside a realm have longer names.
  private static let longestName = 255 - ".fresh.management".utf8.count
  /// The longest path, in bytes. Some systems allow no more than 1,024 bytes.
  private static let longestPath = 1000

  /// Encodes a name: ASCII letters and digits and `-._~` stay as they are, each other byte becomes a percent sign and two
  /// hexadecimal digits.
  static func encoded(_ name: String) -> String {
    // These names have a special meaning in folders.
    if name == "." || name == ".." { return String(repeating: "%2E", count: name.utf8.count) }
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.append(byte)
      default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  private static func hash(_ text: String) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let hash = Array(text.utf8).contentHash
    return String(
      decoding: hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static func isShort(_ path: String) -> Bool {
    path.utf8.count <= longestPath
      && path.utf8.split(separator: UInt8(ascii: "/")).allSatisfy { $0.count <= longestName }
  }

  private static func isFile(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
  }

  /// Makes a folder.
  ///
  /// - Returns: whether the folder exists now.
  private static func makeFolder(_ path: String) -> Bool {
    let made: Void? = try? FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return made != nil
  }
}
