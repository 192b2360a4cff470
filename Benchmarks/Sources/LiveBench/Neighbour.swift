import Foundation
import RealmSwift

/// Two busy processes with one file. One writes, and the other observes.
struct Neighbour {
  let configuration: Realm.Configuration
  private let isEncrypted: Bool
  private static let key = Data((0..<64).map { UInt8($0) })

  init(isEncrypted: Bool) throws {
    self.isEncrypted = isEncrypted
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("live-bench-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    configuration = Self.configuration(folder.appendingPathComponent("shared.realm"), isEncrypted)
  }

  private static func configuration(_ url: URL, _ isEncrypted: Bool) -> Realm.Configuration {
    Realm.Configuration(fileURL: url, encryptionKey: isEncrypted ? key : nil, objectTypes: [Stamp.self])
  }

  private static let commits = 500

  func run(_ figures: Figures) throws {
    let url = configuration.fileURL!
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(Stamp()) }
    let (queue, seen) = (DispatchQueue(label: "observer"), Seen())
    let configuration = configuration
    let token = queue.sync {
      let realm = try! Realm(configuration: configuration, queue: queue)
      return realm.objects(Stamp.self).observe { change in
        if case .update(let stamps, _, _, _) = change { seen.add(stamps[0].round, now() - stamps[0].time) }
      }
    }
    queue.sync {}
    let writer = Process()
    writer.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    writer.arguments = ["write", url.path, isEncrypted ? "encrypted" : "plain"]
    let spinning = Spinner()
    try writer.run()
    writer.waitUntilExit()
    guard writer.terminationStatus == 0 else { throw CocoaError(.fileReadUnknown) }
    seen.wait(Self.commits)
    spinning.stop()
    figures.add("L9 another process\(isEncrypted ? ", encrypted" : ""), both busy", seen.all, aim: 50)
    print("     of \(Self.commits) commits, \(seen.all.count) were told one by one")
    withExtendedLifetime(token) {}
  }

  /// The main program of the writing process: `write FILE plain|encrypted`.
  static func write(_ arguments: [String]) throws {
    let url = URL(fileURLWithPath: arguments[0])
    let realm = try Realm(configuration: configuration(url, arguments[1] == "encrypted"))
    let spinning = Spinner()
    let stamp = realm.objects(Stamp.self)[0]
    for round in 1...commits {
      try realm.write { (stamp.round, stamp.time) = (round, now()) }
      Thread.sleep(forTimeInterval: 0.005)
    }
    spinning.stop()
  }
}

/// The time at which a process wrote, by a clock that all processes share.
final class Stamp: Object {
  @Persisted var round: Int
  @Persisted var time: Double
}

/// Keeps one processor busy.
final class Spinner: @unchecked Sendable {
  // This is Sendable because `isStopped` is used only under the lock.
  private let lock = NSLock()
  private var isStopped = false

  init() {
    Thread.detachNewThread { [self] in
      var sum = 0
      while !lock.withLock({ isStopped }) { for number in 0..<100_000 { sum &+= number ^ sum } }
    }
  }

  func stop() { lock.withLock { isStopped = true } }
}

/// The times from each write to the observer's call, and the last round that was seen.
final class Seen: @unchecked Sendable {
  // This is Sendable because the variables are used only under the lock.
  private let lock = NSCondition()
  private var times: [Double] = []
  private var last = 0

  func add(_ round: Int, _ time: Double) {
    lock.withLock {
      times.append(time)
      last = round
      lock.broadcast()
    }
  }

  func wait(_ round: Int) {
    lock.withLock { while last < round { lock.wait() } }
  }

  var all: [Double] { lock.withLock { times } }
}
