import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A process of this program in another role. It reads lines from the parent and answers with lines. The parent kills
/// it at the latest when this object goes away.
package final class Child {
  package let process: pid_t
  private let input: CInt
  private let output: CInt
  private var unread: [UInt8] = []
  private var status: CInt?

  package init(_ arguments: [String]) throws {
    let toChild = try Self.makePipe()
    let fromChild = try Self.makePipe()
    defer {
      close(toChild.read)
      close(fromChild.write)
    }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild.read, 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild.write, 1)
    guard let program = Bundle.main.executablePath else {
      throw Violation("this program does not know its path")
    }
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process: pid_t = 0
    let refusal = posix_spawn(&process, program, &actions, nil, &words, environ)
    guard refusal == 0 else { throw Violation("a process can't be started: error \(refusal)") }
    self.process = process
    input = toChild.write
    output = fromChild.read
  }

  deinit {
    if status == nil {
      kill(process, SIGKILL)
      _ = waited()
    }
    close(input)
    close(output)
  }

  /// Makes a pipe that other children do not inherit.
  package static func makePipe() throws -> (read: CInt, write: CInt) {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw Violation("no pipe: error \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  // MARK: - Talking

  package func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    // If the child is gone, `line` notices it.
    _ = write(input, bytes, bytes.count)
  }

  /// Waits for the next line and returns it without its end.
  package func line() throws -> String {
    while true {
      if let end = unread.firstIndex(of: 10) {
        defer { unread.removeFirst(end + 1) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(output, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Violation("process \(process) fell silent: \(Self.describe(waited()))") }
      unread += buffer[..<count]
    }
  }

  package func ask(_ line: String) throws -> String {
    tell(line)
    return try self.line()
  }

  /// Whether the child writes something within the time.
  package func speaks(within milliseconds: Int32) -> Bool {
    if !unread.isEmpty { return true }
    var wish = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    return poll(&wish, 1, milliseconds) > 0
  }

  // MARK: - Ending

  /// Kills the child as a crash does, whatever it is doing. Throws if the child had ended by itself.
  package func crash() throws {
    kill(process, SIGKILL)
    let status = waited()
    guard status & 0x7f == SIGKILL else {
      throw Violation("process \(process) ended by itself: \(Self.describe(status))")
    }
  }

  /// Waits until the child has ended by itself. Throws unless it ended with code 0.
  package func finish() throws {
    let status = waited()
    guard status == 0 else { throw Violation("process \(process) ended ill: \(Self.describe(status))") }
  }

  /// Throws if the child has ended with another code than 0.
  package func expectHealth() throws {
    var status: CInt = 0
    if self.status == nil, waitpid(process, &status, WNOHANG) == process { self.status = status }
    if self.status ?? 0 != 0 { try finish() }
  }

  private func waited() -> CInt {
    if let status { return status }
    let status = Self.end(of: process)
    self.status = status
    return status
  }

  /// Runs a process of this program without some of the descriptors that processes have from the start. Returns the
  /// status with which it ended.
  package static func run(_ arguments: [String], closing descriptors: [CInt]) throws -> CInt {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // All three descriptors are opened first, because closing a descriptor that is closed already fails.
    for descriptor in 0...2 as ClosedRange<CInt> {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    for descriptor in descriptors { posix_spawn_file_actions_addclose(&actions, descriptor) }
    guard let program = Bundle.main.executablePath else {
      throw Violation("this program does not know its path")
    }
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process: pid_t = 0
    let refusal = posix_spawn(&process, program, &actions, nil, &words, environ)
    guard refusal == 0 else { throw Violation("a process can't be started: error \(refusal)") }
    return end(of: process)
  }

  /// Waits until a process has ended, and returns its status.
  package static func end(of process: pid_t) -> CInt {
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }

  package static func describe(_ status: CInt) -> String {
    status & 0x7f != 0 ? "signal \(status & 0x7f)" : "code \((status >> 8) & 0xff)"
  }
}
