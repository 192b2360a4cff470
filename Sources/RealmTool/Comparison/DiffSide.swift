import ArgumentParser
import Foundation
import RealmStorage

/// One of the two states that are compared: the newest version of a file, or a version that the file keeps under a
/// name.
struct DiffSide {
  let path: String
  /// The name of the version; nil for the newest version.
  private let version: String?

  /// Parses an argument.
  ///
  /// - Parameter argument: a path, or a path, `@` and the name of a version. If a file with the whole argument as its
  ///   path exists, it is taken.
  init(_ argument: String) {
    guard !FileManager.default.fileExists(atPath: argument), let mark = argument.lastIndex(of: "@"),
      mark > argument.startIndex
    else {
      (path, version) = (argument, nil)
      return
    }
    path = String(argument[..<mark])
    version = String(argument[argument.index(after: mark)...])
  }

  func open(key: [UInt8]?) throws -> Snapshot {
    try FileOptions.requireFile(path)
    let database = try FileOptions.open(path, key: key)
    guard let version else {
      if let number = database.fellBackTo {
        Output.complain("\(path): its newest version is not whole; version \(number) is compared.")
      }
      return try database.snapshot()
    }
    return try Self.snapshot(named: version, of: database, path)
  }

  /// The version that a file keeps under a name.
  private static func snapshot(named name: String, of database: Database, _ path: String) throws -> Snapshot {
    guard let snapshot = try database.snapshot(named: name) else {
      let names = try database.namedVersions().filter { !$0.isEnded }.map { "'\($0.name)'" }
      throw ValidationError(
        "\(path) keeps no version named '\(name)'; "
          + (names.isEmpty
            ? "it keeps none. Compare whole files." : "it keeps \(names.joined(separator: ", ")).")
      )
    }
    return snapshot
  }
}
