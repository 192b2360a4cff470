import Foundation
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Watches a run. It names the state that takes too long, takes too much memory, or kills the process.
///
/// An alarm watches the states of one thread. Other threads have alarms of their own.
package final class Alarm: Sendable {
  package static let shared = Alarm()

  private struct State {
    var label = "no state"
    /// How many times the alarm has looked at the state that runs, or nil between states.
    var looks: Int?
  }

  private let state = Mutex(State())

  /// The alarms that watch. A trap may be in the state of any of them.
  private static let watching = Mutex<[Alarm]>([])
  private static let maximumMemory = 1 << 30
  private static let looksPerSecond = 20

  package init() {}

  /// Begins to watch. A state that takes longer than `patience` seconds counts as hung.
  ///
  /// The alarm counts its looks instead of reading a clock. So a state has not hung if the process or the machine was
  /// suspended.
  package func start(patience: Int = 20) {
    let isFirst = Self.watching.withLock {
      $0.append(self)
      return $0.count == 1
    }
    if isFirst { Self.watchSignals() }
    Thread.detachNewThread {
      while true {
        Thread.sleep(forTimeInterval: 1 / Double(Self.looksPerSecond))
        self.look(patience)
      }
    }
  }

  package func begin(_ label: String) {
    state.withLock { $0 = State(label: label, looks: 0) }
  }

  package func end() { state.withLock { $0.looks = nil } }

  private func look(_ patience: Int) {
    let (label, looks) = state.withLock { state in
      state.looks = state.looks.map { $0 + 1 }
      return (state.label, state.looks)
    }
    guard let looks else { return }
    if looks > patience * Self.looksPerSecond {
      Self.tell("\(label): hung, for more than \(patience) seconds")
      abort()
    }
    if let memory = Self.residentMemory, memory > Self.maximumMemory {
      Self.tell("\(label): takes \(memory >> 20) MiB of memory")
      abort()
    }
  }

  // MARK: - Traps

  /// The earlier handlers of the signals. They are written once, before any state runs.
  nonisolated(unsafe) private static var earlier: [CInt: sigaction] = [:]

  private static func watchSignals() {
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE] {
      var action = sigaction()
      sigaction(number, nil, &action)
      earlier[number] = action
      signal(number) { code in Alarm.tellOfTrap(code) }
    }
  }

  /// Writes the labels of the running states. The process dies nevertheless, because the instruction runs again with
  /// the earlier handler.
  private static func tellOfTrap(_ number: CInt) {
    let labels = watching.withLock { $0 }.compactMap { alarm in
      alarm.state.withLock { $0.looks == nil ? nil : $0.label }
    }
    tell("\(labels.joined(separator: "; or ")): trapped, signal \(number)")
    if var action = earlier[number] { sigaction(number, &action, nil) }
  }

  private static func tell(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(2, line, line.count)
  }

  /// The resident memory of the process in bytes, or nil if the system has no such file.
  private static var residentMemory: Int? {
    let descriptor = open("/proc/self/statm", O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = read(descriptor, &buffer, 128)
    let fields = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
    return pages * sysconf(CInt(_SC_PAGESIZE))
  }
}
