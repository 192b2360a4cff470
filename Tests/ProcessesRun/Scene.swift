import Foundation
import RealmStorage
import RealmTestSupport

/// The options with which a process of the run opens a file.
func options(isEncrypted: Bool) -> Database.Options {
  var options = Database.Options(encryptionKey: isEncrypted ? Keys.first : nil, decryptedMemory: 8 << 20)
  // With these options large transactions write before they commit, and small tables have full clusters.
  options.spillBytes = 1 << 18
  options.clusterRows = 16
  return options
}

/// A file that workers share, with their journals beside it, and the checks of what must always hold for the file.
final class Scene {
  let path: String
  let isEncrypted: Bool
  private var journals: [Int: Journal] = [:]
  /// The greatest count of each slot that a version had. A count must not decrease, because what was published is not
  /// taken back.
  private var seen: [Int: Int] = [:]
  private var newest: (version: UInt64, fingerprint: UInt64) = (0, 0)

  init(path: String, isEncrypted: Bool) {
    self.path = path
    self.isEncrypted = isEncrypted
  }

  var control: String { path + ".management/control" }

  func open() throws -> Database { try Database(path: path, options: options(isEncrypted: isEncrypted)) }

  func spawn(_ role: Role, slots: Range<Int> = 0..<0, _ more: [String] = [], seed: UInt64 = 0) throws -> Child
  {
    let slots = slots.isEmpty ? [] : ["--slots"] + slots.map(String.init)
    return try Child(
      ["worker", role.rawValue, path, "--seed", "\(seed)"] + (isEncrypted ? ["--encrypted"] : []) + more
        + slots)
  }

  static func journalPath(_ slot: Int, beside path: String) -> String { "\(path).slot\(slot)" }

  func progress(of slot: Int) throws -> Journal.Progress {
    let journal = try journals[slot] ?? Journal(path: Self.journalPath(slot, beside: path))
    journals[slot] = journal
    return try journal.catchUp()
  }

  /// The number of acknowledged commits of all slots.
  func acknowledged(_ slots: Range<Int>) throws -> Int {
    try slots.reduce(0) { $0 + (try progress(of: $1).acknowledged) }
  }

  /// Waits until this number of commits is acknowledged, and checks that none of the workers fails meanwhile.
  func wait(for commits: Int, _ slots: Range<Int>, by workers: [Child]) throws {
    while try acknowledged(slots) < commits {
      for worker in workers { try worker.expectHealth() }
      Thread.sleep(forTimeInterval: 0.001)
    }
  }

  // MARK: - What must hold

  /// Takes a snapshot and compares it with the journals of the workers, which may go on meanwhile.
  @discardableResult
  func verify(_ database: Database, slots: Range<Int>) throws -> Snapshot {
    var least: [Int: Int] = [:]
    for slot in slots { least[slot] = max(try progress(of: slot).acknowledged, seen[slot] ?? 0) }
    let snapshot = try database.snapshot()
    let counts = try Ledger.verify(snapshot)
    for slot in slots {
      let (count, most) = (counts[slot] ?? 0, try progress(of: slot).begun)
      guard count >= least[slot] ?? 0 else {
        throw Violation(
          "slot \(slot): commit \(least[slot] ?? 0) was acknowledged or seen, version \(snapshot.version) has \(count)"
        )
      }
      guard count <= most else { throw Violation("slot \(slot): \(count) commits, but \(most) were begun") }
      seen[slot] = count
    }
    let fingerprint = try Ledger.fingerprint(snapshot)
    guard snapshot.version >= newest.version else {
      throw Violation("version \(snapshot.version) comes after \(newest.version)")
    }
    guard snapshot.version > newest.version || fingerprint == newest.fingerprint else {
      throw Violation("version \(snapshot.version) had another content before")
    }
    newest = (snapshot.version, fingerprint)
    return snapshot
  }

  /// Checks the file after all workers have ended. Exactly the acknowledged commits must be there, and nothing may be
  /// damaged.
  func verifyEnd(_ database: Database, slots: Range<Int>) throws {
    let snapshot = try verify(database, slots: slots)
    let counts = try Ledger.verify(snapshot)
    for slot in slots {
      let expected = try progress(of: slot).acknowledged
      guard counts[slot] ?? 0 == expected else {
        throw Violation("slot \(slot): \(expected) commits were acknowledged, \(counts[slot] ?? 0) are there")
      }
    }
    try Self.check(snapshot)
  }

  static func check(_ snapshot: Snapshot) throws {
    if let problem = IntegrityCheck.run(snapshot).problem {
      throw Violation("version \(snapshot.version): \(problem)")
    }
  }
}

/// Calls `body` with a new plain file and with a new encrypted file, in a folder that is removed afterwards.
func withScenes(_ body: (Scene) throws -> Void) throws {
  for isEncrypted in [false, true] { try withScene(isEncrypted: isEncrypted, body) }
}

func withScene<Result>(isEncrypted: Bool, _ body: (Scene) throws -> Result) throws -> Result {
  try withTemporaryPath { try body(Scene(path: $0, isEncrypted: isEncrypted)) }
}

/// Snapshots that are held for a while. Each of them must keep its content.
struct HeldSnapshots {
  private var held: [(snapshot: Snapshot, fingerprint: UInt64)] = []

  var count: Int { held.count }

  mutating func add(_ snapshot: Snapshot) throws { held.append((snapshot, try Ledger.fingerprint(snapshot))) }

  func verify() throws {
    for (snapshot, fingerprint) in held where try Ledger.fingerprint(snapshot) != fingerprint {
      throw Violation("the snapshot of version \(snapshot.version) changed")
    }
  }

  /// Checks all snapshots, and releases the oldest.
  mutating func releaseOldest() throws {
    try verify()
    if !held.isEmpty { held.removeFirst() }
  }

  mutating func releaseAll() { held = [] }
}
