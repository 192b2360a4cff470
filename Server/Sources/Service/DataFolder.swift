import Definition
import Foundation
import RealmServer

/// The folder in which a server keeps its apps. It has a folder for each app, with the definition, the objects and the
/// users.
public struct DataFolder: Sendable {
  public let url: URL

  public init(_ path: String) { url = URL(fileURLWithPath: path, isDirectory: true) }

  /// A problem of the folder, described for people.
  public struct Problem: Error, CustomStringConvertible {
    public let description: String
  }

  func folder(of app: String) -> URL { url.appending(path: app, directoryHint: .isDirectory) }
  func definition(of app: String) -> URL { folder(of: app).appending(path: "app.yaml") }
  func state(of app: String) -> URL { folder(of: app).appending(path: "state.realm") }
  func accounts(of app: String) -> URL { folder(of: app).appending(path: "accounts.realm") }
  var administration: URL { url.appending(path: "administration.json") }
  private var lock: URL { url.appending(path: "server.lock") }

  /// Makes the folder. Nobody but its owner may look into it, because it has the keys by which tokens are signed.
  func make() throws {
    try Self.makePrivate(url)
  }

  static func makePrivate(_ url: URL) throws {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// The ids of the apps, in ascending order.
  public func apps() throws -> [String] {
    guard FileManager.default.fileExists(atPath: url.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: url.path).filter { name in
      FileManager.default.fileExists(atPath: definition(of: name).path)
    }.sorted()
  }

  /// Writes the definition of a new app.
  ///
  /// - Throws: `Problem` if there is a definition already.
  public func add(_ app: String, text: String) throws {
    let file = definition(of: app)
    guard !FileManager.default.fileExists(atPath: file.path) else {
      throw Problem(description: "\(file.path) is there already. Change it, or give another app id.")
    }
    try make()
    try Self.makePrivate(folder(of: app))
    try Data(text.utf8).write(to: file, options: .withoutOverwriting)
  }

  /// Reads the definition of an app.
  ///
  /// - Throws: `DefinitionProblems`, with everything that is wrong; `Problem`.
  public func read(_ app: String) throws -> AppDefinition {
    let file = definition(of: app)
    guard let text = String(data: try Data(contentsOf: file), encoding: .utf8) else {
      throw Problem(description: "\(file.path) is no UTF-8 text.")
    }
    let definition = try AppDefinition.read(text, file: file.path) { text, table, fields in
      SyncAppSettings.problem(inRight: text, of: table, fields: fields)
    }
    guard definition.id == app else {
      throw Problem(
        description:
          "\(file.path) names the app '\(definition.id)', and its folder is '\(app)'. Give both one name.")
    }
    return definition
  }

  /// Holds the folder until the returned lock is released. Only one program at a time may use the folder.
  ///
  /// - Returns: the lock; nil if another program holds the folder.
  package func hold() throws -> FolderLock? {
    try make()
    return try FolderLock(lock)
  }
}

/// The settings of the sync server of an app, from the definition of the app.
extension SyncAppSettings {
  init(_ definition: AppDefinition) {
    self.init()
    partitionProperty = definition.partition
    fields = definition.fields
    limits.replicas = definition.limits.replicasPerUser
    limits.fileBytes = UInt64(definition.limits.data)
    if let history = definition.limits.history { limits.historyBytes = UInt64(history) }
    guard !definition.isDevelopment else { return }
    let nobody = "FALSEPREDICATE"
    rights = definition.rights.mapValues { rights in
      Rights(
        read: rights.read?.text ?? nobody, write: rights.write?.text ?? nobody,
        insert: rights.insert?.text ?? nobody, delete: rights.delete?.text ?? nobody)
    }
  }
}
