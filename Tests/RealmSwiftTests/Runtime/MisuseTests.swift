import Foundation
@_spi(Testing) import RealmSwift
import Testing

/// Tests of misuse that stops a program. Each runs on a thread that ends where the program would stop.
@Suite("Misuse", .serialized)
final class MisuseTests {
  final class Stop: @unchecked Sendable {
    var message = ""
    let done = DispatchSemaphore(value: 0)
  }

  /// There is one handler of errors at a time.
  private static let gate = NSLock()

  /// The message with which `body` stops; empty if it does not stop.
  func stop(_ body: @escaping @Sendable () throws -> Void) -> String {
    Self.gate.withLock { stopped(body) }
  }

  private func stopped(_ body: @escaping @Sendable () throws -> Void) -> String {
    let stop = Stop()
    _setProgrammerErrorHandler { name, reason in
      stop.message = "\(name): \(reason)"
      stop.done.signal()
      // The objects of the thread stay as they are, because no other thread waits for them.
      while true { Thread.sleep(forTimeInterval: 1000) }
    }
    defer { _setProgrammerErrorHandler(nil) }
    Thread {
      do { try body() } catch { stop.message = "thrown: \(error)" }
      stop.done.signal()
    }.start()
    stop.done.wait()
    return stop.message
  }

  static func realm() throws -> Realm {
    let realm = try memoryRealm()
    try realm.write { realm.add(Person(id: 1, name: "Ann", age: 1)) }
    return realm
  }

  func expectStop(
    _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable () throws -> Void
  ) {
    let message = stop(body)
    for part in expected {
      #expect(message.contains(part), "'\(message)' lacks '\(part)'", sourceLocation: sourceLocation)
    }
  }
}
