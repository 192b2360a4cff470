import Foundation
import Synchronization

/// How the tool speaks. Standard output is written here and nowhere else, so that output which can't be written is never
/// passed over.
enum Output {
  private static let standard = Mutex(OutputBuffer(descriptor: STDOUT_FILENO))

  /// Puts a line on standard output. It is written when the buffer is full, and on a terminal at once.
  static func line(_ text: String = "") throws(OutputError) {
    try standard.withLock { (buffer) throws(OutputError) in try buffer.append(text) }
  }

  /// The same of a line in UTF-8.
  static func line(_ bytes: [UInt8]) throws(OutputError) {
    try standard.withLock { (buffer) throws(OutputError) in try buffer.append(bytes) }
  }

  /// Writes what is still in the buffer.
  static func flush() throws(OutputError) {
    try standard.withLock { (buffer) throws(OutputError) in try buffer.flush() }
  }

  /// A line of two columns.
  static func row(_ label: String, _ value: String) throws(OutputError) {
    try line(label.padding(toLength: 22, withPad: " ", startingAt: 0) + value)
  }

  /// Calls `body`, which puts lines on standard output, and writes them.
  ///
  /// - Parameter remark: what a reader of the error must know when they can't be written; empty for nothing.
  static func telling(_ remark: String, _ body: () throws -> Void) throws {
    do {
      try body()
      try flush()
    } catch let error as OutputError {
      throw OutputError(errno: error.errno, remark: remark, path: error.path)
    }
  }

  /// Puts a line on standard error. Where that can't be written either, the exit code is left to tell. Names that stand in files may
  /// hold what a terminal takes for commands: that is shown.
  static func complain(_ message: String) { putOnStandardError(Wording.shown(message) + "\n") }

  static func putOnStandardError(_ text: String) {
    _ = OutputBuffer.write(Array(text.utf8), to: STDERR_FILENO)
  }

  /// Makes ready for what may be wrong with the standard streams, before any file is opened.
  ///
  /// A closed pipe is told by the write that fails, and not by a signal that ends the program. Where a stream is closed,
  /// its number is taken: else the first file that is opened would get it, and what is meant for the stream.
  ///
  /// - Throws: where standard output is closed: then there is nobody to do anything for.
  static func prepare() throws(OutputError) {
    signal(SIGPIPE, SIG_IGN)
    // A file that would be longer than the user may make is told by the write that fails, too.
    signal(SIGXFSZ, SIG_IGN)
    let isClosed = fcntl(STDOUT_FILENO, F_GETFD) == -1
    for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) == -1 {
      // The least number that is free is the one that is given.
      _ = open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY)
    }
    if isClosed { throw OutputError(errno: EBADF) }
  }
}

/// Standard output can't be written, so what a command has to tell is not told, or only in part.
struct OutputError: Error, CustomStringConvertible {
  var errno: CInt
  /// A sentence on what was done or found nevertheless; empty for nothing.
  var remark = ""
  /// The file that can't be written; nil for standard output.
  var path: String?

  /// Greater than all others in rank: with any other code who asked would take the output for whole.
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

/// Bytes on their way to a file: large dumps are written in few large pieces.
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
    // What could not be written is not tried again: the reader would get it behind a gap.
    bytes.removeAll(keepingCapacity: true)
    if errno != 0 { throw OutputError(errno: errno) }
  }

  /// Answers 0, or why it can't be written.
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
        // A stream that does not wait by itself: whoever gave it set it so.
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&ready, 1, -1)
      case let errno: return errno
      }
    }
    return 0
  }
}
