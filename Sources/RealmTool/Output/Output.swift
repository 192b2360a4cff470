import Foundation
import Synchronization

/// The output of the tool. All text for standard output is written here, so that no failure to write it is overlooked.
enum Output {
  private static let standard = Mutex(OutputBuffer(descriptor: STDOUT_FILENO))

  /// Puts a line on standard output. It is written when the buffer is full, or at once if the output is a terminal.
  static func line(_ text: String = "") throws(OutputError) {
    try standard.withLock { (buffer) throws(OutputError) in try buffer.append(text) }
  }

  /// Puts a line in UTF-8 on standard output.
  static func line(_ bytes: [UInt8]) throws(OutputError) {
    try standard.withLock { (buffer) throws(OutputError) in try buffer.append(bytes) }
  }

  /// Writes the rest of the buffer.
  static func flush() throws(OutputError) {
    try standard.withLock { (buffer) throws(OutputError) in try buffer.flush() }
  }

  /// Puts a line of two columns on standard output.
  static func row(_ label: String, _ value: String) throws(OutputError) {
    try line(label.padding(toLength: 22, withPad: " ", startingAt: 0) + value)
  }

  /// Calls `body`, which puts lines on standard output, and writes the lines.
  ///
  /// - Parameter remark: a sentence that the error has to add if the lines can't be written; empty for none.
  static func telling(_ remark: String, _ body: () throws -> Void) throws {
    do {
      try body()
      try flush()
    } catch let error as OutputError {
      throw OutputError(errno: error.errno, remark: remark, path: error.path)
    }
  }

  /// Puts a line on standard error. If that can't be written either, only the exit code reports the error. Names in
  /// files may contain characters that a terminal takes for commands; these characters are shown as escapes.
  static func complain(_ message: String) { putOnStandardError(Wording.shown(message) + "\n") }

  static func putOnStandardError(_ text: String) {
    _ = OutputBuffer.write(Array(text.utf8), to: STDERR_FILENO)
  }

  /// Prepares the standard streams, before any file is opened.
  ///
  /// If a pipe is closed, the write fails, and no signal ends the program. If a stream is closed, its number is taken:
  /// otherwise the first file that is opened would get the number, and with it the text for the stream.
  ///
  /// - Throws: `OutputError` if standard output is closed, because nobody could get the result.
  static func prepare() throws(OutputError) {
    signal(SIGPIPE, SIG_IGN)
    // If a file would be larger than the user may make, the write fails as well, and no signal ends the program.
    signal(SIGXFSZ, SIG_IGN)
    let isClosed = fcntl(STDOUT_FILENO, F_GETFD) == -1
    for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) == -1 {
      // A new file gets the least free number.
      _ = open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY)
    }
    if isClosed { throw OutputError(errno: EBADF) }
  }
}

/// The error that standard output or a file can't be written, so that the result of a command is missing or not
/// complete.
struct OutputError: Error, CustomStringConvertible {
  var errno: CInt
  /// A sentence about what was done or found nevertheless; empty for none.
  var remark = ""
  /// The file that can't be written; nil for standard output.
  var path: String?

  /// The exit code, which takes precedence over all others. With another code, the caller would take the output for
  /// complete.
  static let exitCode: CInt = 4

  var description: String {
    let reason =
      switch errno {
      case EINTR: "the command was interrupted"
      case EBADF: "it is closed, or open for reading only"
      case EPIPE: "who reads it has closed the pipe"
      default: String(cString: strerror(errno))
      }
    return "\(path ?? "Standard output") can't be written: \(reason) (error \(errno))."
      + (remark.isEmpty ? "" : " " + remark)
  }
}

/// Collects bytes for a file, so that large dumps are written in few large pieces.
struct OutputBuffer: ~Copyable {
  static let size = 64 * 1024
  private let descriptor: CInt
  private let writesLines: Bool
  private var bytes: [UInt8] = []

  init(descriptor: CInt) {
    self.descriptor = descriptor
    writesLines = isatty(descriptor) == 1
    bytes.reserveCapacity(Self.size)
  }

  mutating func append(_ line: String) throws(OutputError) { try append(Array(line.utf8)) }

  mutating func append(_ line: [UInt8]) throws(OutputError) {
    bytes.append(contentsOf: line)
    bytes.append(UInt8(ascii: "\n"))
    if writesLines || bytes.count >= Self.size { try flush() }
  }

  mutating func flush() throws(OutputError) {
    let errno = Self.write(bytes, to: descriptor)
    // Bytes that could not be written are dropped. If they were written later, the reader would get them after a gap.
    bytes.removeAll(keepingCapacity: true)
    if errno != 0 { throw OutputError(errno: errno) }
  }

  /// Writes all bytes.
  ///
  /// - Returns: 0, or the error number if the bytes can't be written.
  static func write(_ bytes: [UInt8], to descriptor: CInt) -> CInt {
    var written = 0
    while written < bytes.count {
      let rest = written == 0 ? bytes : Array(bytes[written...])
      let count = Foundation.write(descriptor, rest, rest.count)
      if count >= 0 {
        written += count
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // The caller of the program has made the stream non-blocking, so the write has to wait here.
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&ready, 1, -1)
      case let errno: return errno
      }
    }
    return 0
  }
}
