import Foundation
import RealmStorage

/// Writes lines to standard output or to a file.
final class LineOutput {
  private let path: String?
  private let write: ([UInt8]) throws(OutputError) -> Void
  private var failure: OutputError?

  /// Makes an output.
  ///
  /// - Parameter path: the path of the file; nil for standard output.
  init(path: String?, _ write: @escaping ([UInt8]) throws(OutputError) -> Void) {
    (self.path, self.write) = (path, write)
  }

  /// Writes a line.
  ///
  /// - Returns: whether more lines are wanted: false after a line could not be written.
  func put(_ line: [UInt8]) -> Bool {
    guard failure == nil else { return false }
    if Interruption.isWanted { failure = OutputError(errno: EINTR, path: path) }
    if failure == nil { do { try write(line) } catch { failure = error } }
    return failure == nil
  }

  /// Ends the output.
  ///
  /// - Throws: `OutputError` if a line could not be written.
  func end() throws(OutputError) { if let failure { throw failure } }
}

/// Makes files and folders that appear only when they are complete.
enum TargetFile {
  /// Calls `body` with an output to a new file, or to standard output if there is no path.
  static func writing(_ path: String?, _ body: (LineOutput) throws -> Void) throws {
    guard let path else {
      return try body(LineOutput(path: nil) { line throws(OutputError) in try Output.line(line) })
    }
    try making(path) { made in
      let descriptor = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { throw OutputError(errno: errno, path: path) }
      defer { close(descriptor) }
      let buffer = FileLines(descriptor, path)
      try body(LineOutput(path: path) { line throws(OutputError) in try buffer.append(line) })
      try buffer.flush()
      guard fsync(descriptor) == 0 else { throw OutputError(errno: errno, path: path) }
    }
  }

  /// Calls `body` with the path of a temporary file to make, and moves that file to `path`.
  static func making(_ path: String, _ body: (String) throws -> Void) throws {
    guard access(path, F_OK) != 0 else { throw OutputError(errno: EEXIST, path: path) }
    let made = "\(path).making-\(getpid())"
    defer { unlink(made) }
    try body(made)
    // Unlike renaming, making a link fails if a file with that path exists by now.
    guard link(made, path) != 0 else { return }
    // Some file systems have no hard links.
    guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else {
      throw OutputError(errno: errno, path: path)
    }
    guard access(path, F_OK) != 0 else { throw OutputError(errno: EEXIST, path: path) }
    guard rename(made, path) == 0 else { throw OutputError(errno: errno, path: path) }
  }

  /// Calls `body` with the path of a new temporary folder, and moves that folder to `path`.
  static func makingFolder(_ path: String, _ body: (String) throws -> Void) throws {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    guard access(path, F_OK) != 0 else { throw OutputError(errno: EEXIST, path: path) }
    let made = "\(path).making-\(getpid())"
    guard mkdir(made, 0o777) == 0 else { throw OutputError(errno: errno, path: path) }
    defer { try? FileManager.default.removeItem(atPath: made) }
    try body(made)
    guard rename(made, path) == 0 else { throw OutputError(errno: errno, path: path) }
  }

  /// Whether a path names a regular file, which can be read twice, or nothing.
  static func isRegular(_ path: String) -> Bool {
    var facts = stat()
    return stat(path, &facts) != 0 || facts.st_mode & S_IFMT == S_IFREG
  }

  /// The name of a table as a file name. Bytes that a file system may treat specially are written as %XX.
  ///
  /// - Parameter taken: the names that are given already, in small letters, because some file systems ignore case.
  static func safeName(_ name: String, _ taken: inout Set<String>) -> String {
    var safe = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
        safe.unicodeScalars.append(Unicode.Scalar(byte))
      default: safe += String(format: "%%%02X", byte)
      }
    }
    safe = String(safe.prefix(200))
    var (found, number) = (safe, 2)
    while !taken.insert(found.lowercased()).inserted {
      found = "\(safe)_\(number)"
      number += 1
    }
    return found
  }
}

/// Writes lines to a file through a buffer. Its errors name the file.
private final class FileLines {
  private var buffer: OutputBuffer
  private let path: String

  init(_ descriptor: CInt, _ path: String) {
    buffer = OutputBuffer(descriptor: descriptor)
    self.path = path
  }

  func append(_ line: [UInt8]) throws(OutputError) {
    do { try buffer.append(line) } catch { throw OutputError(errno: error.errno, path: path) }
  }

  func flush() throws(OutputError) {
    do { try buffer.flush() } catch { throw OutputError(errno: error.errno, path: path) }
  }
}
