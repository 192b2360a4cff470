import ArgumentParser
import Foundation
import RealmStorage

/// The key of the files that a command looks into.
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

/// The file that a command makes, and the key that it is encrypted with.
struct TargetOptions: ParsableArguments {
  @Argument(help: "The .realm file to make; there must be none yet.", completion: .file())
  var target: String

  @Option(help: "A file with the key the new file is encrypted with. Without one it is not encrypted.")
  var targetKeyFile: String?

  func key() throws -> [UInt8]? { try targetKeyFile.map { try FileOptions.key(inFile: $0) } }
}

/// The file a command looks into, and its key.
struct FileOptions: ParsableArguments {
  @Argument(help: "The .realm file.", completion: .file())
  var file: String

  @OptionGroup var keys: KeyOptions

  /// Opens the file for reading; nothing of it is changed, and nothing stays beside it that was not there.
  func open() throws -> Database {
    try requireFile()
    return try Self.open(file, key: key())
  }

  /// Opens a file for reading, as `open` does.
  static func open(_ path: String, key: [UInt8]?) throws -> Database {
    var options = Database.Options.reading(key)
    options.leavesNothing = true
    return try Database(path: path, options: options)
  }

  /// Opens a file for writing, if it is synced neither with a server nor by one: what was written to such a file would be missing in what its devices get.
  ///
  /// - Parameter command: for the message.
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

  /// - Throws: `SyncedFileRefusal` for a file that is synced with a server or by one.
  static func refuseSynced(_ database: Database, path: String, for command: String) throws {
    let trees = try database.read { try $0.treeNames() }
    guard try database.isSynced() || !Export.syncTrees.isDisjoint(with: trees) else { return }
    throw SyncedFileRefusal(path: path, command: command)
  }

  /// Opens the newest version for reading, damaged or not.
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

  /// What is no file of bytes is not opened at all: opening a pipe would wait for who writes to it.
  func requireFile() throws { try Self.requireFile(file) }

  static func requireFile(_ path: String) throws {
    if let refusal = refusal(of: path) {
      Output.complain(refusal)
      throw ExitCode(3)
    }
  }

  /// A sentence that says why a path names nothing that could be a realm file; nil where it may.
  static func refusal(of path: String) -> String? { reasonAgainst(path).map { "\(path) \($0)." } }

  /// Why a path names nothing that could be a realm file; nil where it may.
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

  /// The key that REALM_KEY tells; nil where it tells none.
  static func keyOfEnvironment() throws -> [UInt8]? {
    guard let digits = ProcessInfo.processInfo.environment["REALM_KEY"], !digits.isEmpty else { return nil }
    return try key(fromDigits: digits, source: "REALM_KEY")
  }

  static func key(inFile path: String) throws -> [UInt8] {
    // No more is read than a key may take, with white space around it: a device has no end.
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

/// A command that writes was given a file that is synced.
struct SyncedFileRefusal: Error, CustomStringConvertible {
  let path: String
  let command: String

  var description: String {
    "\(path) is synced, and \(command) does not write to such a file: other devices would not get what it writes. Write with the app, or make a new file by "
      + "`realm export` and `realm import`."
  }
}
