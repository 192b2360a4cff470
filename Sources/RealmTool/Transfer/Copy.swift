import ArgumentParser
import Foundation
import RealmStorage

struct Copy: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Writes what a file holds to a new one, as small as can be, with another key or none.")

  @OptionGroup var options: FileOptions

  @OptionGroup var made: TargetOptions

  func run() throws {
    Interruption.removeUnfinishedFiles()
    let (key, target) = (try made.key(), made.target)
    let snapshot = try options.open().snapshot()
    try snapshot.copy(to: target, encryptionKey: key)
    try Output.telling("The copy was made.") {
      try Compact.tell(
        of: (try? snapshot.namedVersions()) ?? [], "Versions that the copy does not keep by name")
      let (size, before) = (try Wording.size(target), try Wording.size(options.file))
      try Output.line("\(target): \(Wording.bytes(size)), from \(Wording.bytes(before)).")
    }
  }
}

struct Compact: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Makes a file as small as what it holds. Needs room for both; exits with 3 while the file is in use.")

  @OptionGroup var options: FileOptions

  func run() throws {
    Interruption.removeUnfinishedFiles()
    try options.requireFile()
    let before = try Wording.size(options.file)
    // An empty file can't be made smaller, and this command does not make realms.
    guard before > 0 else { throw StorageError.emptyFile(path: options.file) }
    // If the file is damaged so that it can't be compacted, compacting reports that.
    let named = (try? options.open().namedVersions()) ?? []
    var opening = Database.Options(encryptionKey: try options.key())
    opening.history = .any
    let isDone = try Database.compact(path: options.file, options: opening)
    guard isDone else {
      Output.complain("\(options.file) is in use; close it everywhere, or copy it by `realm copy`.")
      throw ExitCode(3)
    }
    try Output.telling("The file was compacted.") {
      try Self.tell(of: named, "Versions that are no longer kept by name")
      let size = try Wording.size(options.file)
      try Output.line("\(options.file): \(Wording.bytes(size)), was \(Wording.bytes(before)).")
    }
  }

  /// Writes which named versions a copy does not have, because it has only one version.
  static func tell(of dropped: [NamedVersion], _ what: String) throws {
    guard !dropped.isEmpty else { return }
    let names = dropped.map { "\($0.name) (version \($0.version))" }.joined(separator: ", ")
    try Output.line("\(what): \(names).")
  }
}
