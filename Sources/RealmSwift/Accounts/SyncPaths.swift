import Foundation
import RealmStorage

/// Where an app has its files:
///
///     <root>/mongodb-realm/<app>/server-utility/metadata/sync_metadata.realm
///     <root>/mongodb-realm/<app>/<user>/flx_sync_default.realm
///     <root>/mongodb-realm/<app>/<user>/<partition>.realm
///     <root>/mongodb-realm/<app>/<hash>.realm
///     <root>/mongodb-realm/<app>/recovered-realms/recovered_realm-<id>.realm
///
/// Names are percent-encoded. The name of a partition is its value as extended JSON. The hash is the BLAKE2b hash of 32 bytes, as hexadecimal
/// digits, of the path below `mongodb-realm` that a file would have had: it takes the place of a name that is too long for file systems.
struct SyncPaths: Sendable {
  /// Which objects a file has.
  enum Content: Sendable {
    case flexible
    case partition(AnyBSON)

    /// Without a suffix.
    fileprivate var name: String {
      switch self {
      case .flexible: "flx_sync_default"
      case .partition(let value): SyncPaths.encoded(ExtendedJSON.text(value))
      }
    }
  }

  /// Where the folder `mongodb-realm` is, without a slash at the end.
  private let root: String
  private let appID: String

  init(_ rootDirectory: URL, appID: String) {
    root = rootDirectory.standardizedFileURL.path
    self.appID = appID
  }

  /// The folder of all that the app has.
  var app: String { "\(root)/mongodb-realm/\(Self.encoded(appID))" }
  var metadataFolder: String { "\(app)/server-utility/metadata" }
  var metadata: String { "\(metadataFolder)/sync_metadata.realm" }
  /// Has the key of the metadata where the app gives none.
  var key: String { "\(metadataFolder)/key" }
  /// The folder of files that were put aside, as their changes could not be uploaded.
  var recovered: String { "\(app)/recovered-realms" }
  func folder(of userID: String) -> String { "\(app)/\(Self.encoded(userID))" }

  /// A path below `recovered` where nothing is yet.
  func newRecovered() -> String { "\(recovered)/recovered_realm-\(ObjectId.generate().stringValue).realm" }

  /// The file of a user. The folder that it is in is made. Where there is a file already under one of the names that it may have, it is that one.
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

  /// A path as it is stored. It is relative where it can be: systems may give an app another root with each of its versions.
  func stored(_ path: String) -> String {
    path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : path
  }

  /// The path that is stored so.
  func path(ofStored stored: String) -> String { stored.hasPrefix("/") ? stored : "\(root)/\(stored)" }

  // MARK: - Names

  /// Whether a text can name a user. Users get their names from a server.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longestID && text != "." && text != ".."
      && !folders.contains(text.lowercased())
  }

  private static let longestID = 1024
  /// Those that an app has beside the folders of its users.
  private static let folders: Set = ["recovered-realms", "server-utility"]
  /// Of the name of a file. Names of up to 255 bytes can be used, and what stands beside a realm has longer ones.
  private static let longestName = 255 - ".fresh.management".utf8.count
  /// Some systems have no longer paths than 1,024 bytes.
  private static let longestPath = 1000

  /// Letters and digits of ASCII and `-._~` stay as they are, other bytes become a percent sign and two digits.
  static func encoded(_ name: String) -> String {
    // Folders have these as names of their own.
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

  /// Whether the folder is there now.
  private static func makeFolder(_ path: String) -> Bool {
    let made: Void? = try? FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return made != nil
  }
}
