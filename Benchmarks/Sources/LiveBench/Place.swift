import Dispatch
import Foundation
import RealmSwift

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

/// The memory that belongs to this process alone, in MiB. Pages of the file that the process has read do not count,
/// because all processes share them.
func ownMiB() -> Double {
  guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
    let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") })
  else { return 0 }
  return (Double(line.split(whereSeparator: { !$0.isNumber })[0]) ?? 0) / 1_024
}

/// The number of calls, and the time of the last call.
final class Called: @unchecked Sendable {
  // This is Sendable because the variables are used only under the lock.
  private let lock = NSCondition()
  private var count = 0
  private var time = 0.0

  func add() {
    lock.lock()
    count += 1
    time = now()
    lock.broadcast()
    lock.unlock()
  }

  /// Waits until there were this many calls. Returns the time of the last call.
  @discardableResult
  func wait(_ wanted: Int) -> Double {
    lock.lock()
    defer { lock.unlock() }
    while count < wanted { lock.wait() }
    return time
  }

  var total: Int {
    lock.lock()
    defer { lock.unlock() }
    return count
  }
}

/// A realm in memory that the main thread writes and that is observed on a queue.
final class Place {
  let configuration: Realm.Configuration
  private let queue = DispatchQueue(label: "observers")
  private let realm: Realm

  init(_ name: String, _ types: [ObjectBase.Type]) throws {
    configuration = Realm.Configuration(inMemoryIdentifier: name, objectTypes: types)
    realm = try Realm(configuration: configuration)
  }

  func write(_ body: (Realm) throws -> Void) throws { try realm.write { try body(realm) } }

  func onQueue<Result>(_ body: (Realm) -> Result) -> Result {
    queue.sync { body(try! Realm(configuration: configuration, queue: queue)) }
  }

  /// Returns after the observers' initial calls.
  func settle() {
    Thread.sleep(forTimeInterval: 1)
    queue.sync {}
  }

  /// The times from the beginning of each commit to the call of an observer, in seconds.
  func times(_ rounds: Int, _ called: Called, _ change: (Realm, Int) throws -> Void) throws -> [Double] {
    var times: [Double] = []
    for round in 0..<rounds {
      let calls = called.total
      realm.beginWrite()
      try change(realm, round)
      let start = now()
      try realm.commitWrite()
      times.append(called.wait(calls + 1) - start)
      queue.sync {}
    }
    return times
  }
}
