import ArgumentParser
import Foundation
import RealmStorage

/// The encryption key of the files that a command reads.
struct KeyOptions: ParsableArguments {
  @Option(
    name: .customLong("key-file"),
    help:
      "A file with the encryption key: 64 raw bytes or 128 hexadecimal digits. Or set REALM_KEY to the digits."
  )
  var keyFile: String?

  func key() throws -> [UInt8]? {
    if let keyFile { return try FileOptions.key(inFile: keyFile) }
    return try FileOptions.keyOfEnvironment()
  }
}

/// The file that a command makes, and the key with which it is encrypted.
struct TargetOptions: ParsableArguments {
  @Argument(help: "The .realm file to make; there must be none yet.", completion: .file())
  var target: String

  @Option(help: "A file with the key the new file is encrypted with. Without one it is not encrypted.")
  var targetKeyFile: String?

  func key() throws -> [UInt8]? { try targetKeyFile.map { try FileOptions.key(inFile: $0) } }
}

/// The file that a command reads, and its key.
struct FileOptions: ParsableArguments {
  @Argument(help: "The .realm file.", completion: .file())
  var file: String

  @OptionGroup var keys: KeyOptions

  /// Opens the file for reading. The file is not changed, and no new files stay beside it.
  func open() throws -> Database {
    try requireFile()
    return try Self.open(file, key: key())
  }

  /// Opens a file for reading. The file is not changed, and no new files stay beside it.
  static func open(_ path: String, key: [UInt8]?) throws -> Database {
    var options = Database.Options.reading(key)
    options.leavesNothing = true
    return try Database(path: path, options: options)
  }

  /// Opens a file for writing, unless the file is synced, as a client's file or as a server's: the devices would not
  /// get what is written to such a file.
  ///
  /// - Parameter command: the name of the command in messages.
  /// - Throws: `SyncedFileRefusal` if the file is synced; `StorageError`.
  static func openToWrite(_ path: String, key: [UInt8]?, for command: String) throws -> Database {
    var options = Database.Options(encryptionKey: key)
    options.leavesNothing = true
    let database: Database
    do throws(StorageError) {
      database = try Database(path: path, options: options)
    } catch {
      guard case .otherHistory(isSynced: true, _) = error else { throw error }
      throw SyncedFileRefusal(path: path, command: command)
    }
    do {
      try refuseSynced(database, path: path, for: command)
    } catch {
      database.close()
      throw error
    }
    return database
  }

  /// Checks that a file is not synced.
  ///
  /// - Throws: `SyncedFileRefusal` if the file is synced, as a client's file or as a server's.
  static func refuseSynced(_ database: Database, path: String, for command: String) throws {
    let trees = try database.read { try $0.treeNames() }
    guard try database.isSynced() || !Export.syncTrees.isDisjoint(with: trees) else { return }
    throw SyncedFileRefusal(path: path, command: command)
  }

  /// Opens the newest version for reading, even if it is damaged.
  func openNewest() throws -> any NodeReader {
    switch Result(catching: { try open() }) {
    case .success(let database) where database.fellBackTo == nil: return try database.snapshot()
    case .failure(let error) where !Self.isDamage(error): throw error
    default: return try NewestVersion.open(path: file, key: try key())
    }
  }

  static func isDamage(_ error: any Error) -> Bool {
    switch error as? StorageError {
    case .corrupted, .truncated: true
    default: false
    }
  }

  /// Stops the command if the path does not name a regular file. Such a path is not opened at all, because opening a
  /// pipe would wait for a writer.
  func requireFile() throws { try Self.requireFile(file) }

  static func requireFile(_ path: String) throws {
    if let refusal = refusal(of: path) {
      Output.complain(refusal)
      throw ExitCode(3)
    }
  }

  /// A sentence that says why a path can't be a realm file; nil if it can.
  static func refusal(of path: String) -> String? { reasonAgainst(path).map { "\(path) \($0)." } }

  /// The reason why a path can't be a realm file, as the rest of a sentence; nil if it can.
  private static func reasonAgainst(_ path: String) -> String? {
    var facts = stat()
    guard stat(path, &facts) == 0 else {
      let errno = errno
      return errno == ENOENT ? "does not exist" : "can't be read: \(String(cString: strerror(errno)))"
    }
    switch facts.st_mode & S_IFMT {
    case S_IFREG: return nil
    case S_IFDIR: return "is a folder and not a realm file"
    case S_IFIFO: return "is a pipe and not a realm file"
    default: return "is a device or socket and not a realm file"
    }
  }

  func key() throws -> [UInt8]? { try keys.key() }

  /// The key in REALM_KEY; nil if the variable is missing or empty.
  static func keyOfEnvironment() throws -> [UInt8]? {
    guard let digits = ProcessInfo.processInfo.environment["REALM_KEY"], !digits.isEmpty else { return nil }
    return try key(fromDigits: digits, source: "REALM_KEY")
  }

  static func key(inFile path: String) throws -> [UInt8] {
    // The limit leaves room for white space around a key. A device may have no end, so not everything is read.
    let limit = 4096
    guard let file = FileHandle(forReadingAtPath: path), let read = try? file.read(upToCount: limit + 1)
    else {
      throw ValidationError("The key file \(path) can't be read, or is empty.")
    }
    if read.count == 64 { return [UInt8](read) }
    guard read.count <= limit else { throw notAKey(path) }
    return try key(fromDigits: String(decoding: read, as: UTF8.self), source: path)
  }

  static func key(fromDigits text: String, source: String) throws -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    guard digits.count == 128, text.filter({ !$0.isWhitespace }).count == 128 else { throw notAKey(source) }
    return stride(from: 0, to: 128, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  private static func notAKey(_ source: String) -> ValidationError {
    ValidationError("\(source) holds neither 64 raw bytes nor 128 hexadecimal digits.")
  }
}

/// The error of a command that writes but was given a synced file.
struct SyncedFileRefusal: Error, CustomStringConvertible {
  let path: String
  let command: String

  var description: String {
    "\(path) is synced, and \(command) does not write to such a file: other devices would not get what it writes. Write with the app, or make a new file by "
      + "`realm export` and `realm import`."
  }
}
