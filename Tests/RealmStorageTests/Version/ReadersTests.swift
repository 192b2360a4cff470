import Foundation
import RealmStorage
import Synchronization
import RealmTestSupport
import Testing

/// Readers of old versions run beside a thread that writes. `make tsan` runs this under ThreadSanitizer, too.
@Suite struct ReadersTests {
  /// The contents that were written, and the content that readers saw in each version.
  private final class Known: Sendable {
    private struct State {
      var written: Set<UInt64> = []
      var seen: [UInt64: UInt64] = [:]
      var failure: String?
      var isDone = false
    }
    private let state = Mutex(State())

    func note(_ content: Content) {
      let fingerprint = content.fingerprint
      _ = state.withLock { $0.written.insert(fingerprint) }
    }

    /// Whether the content was written, and all readers of this version saw the same content.
    func agrees(_ version: UInt64, _ fingerprint: UInt64) -> Bool {
      state.withLock { state in
        let before = state.seen.updateValue(fingerprint, forKey: version)
        return state.written.contains(fingerprint) && before ?? fingerprint == fingerprint
      }
    }

    func fail(_ what: String) { state.withLock { $0.failure = $0.failure ?? what } }
    func finish() { state.withLock { $0.isDone = true } }
    var failure: String? { state.withLock { $0.failure } }
    var goesOn: Bool { state.withLock { !$0.isDone && $0.failure == nil } }
    var versionsSeen: Int { state.withLock { $0.seen.count } }
  }

  @Test(arguments: 0..<2, [nil, Keys.first])
  func `the content of a version never changes for readers while other versions are written`(
    seed: UInt64, key: [UInt8]?
  ) throws {
    try withTemporaryPath { path in
      // There is little memory for decrypted nodes, so nodes are dropped while readers run.
      var options = Database.Options(encryptionKey: key, decryptedMemory: 1 << 19)
      options.compaction = .eager
      options.clusterRows = 8
      options.spillBytes = 1 << 14
      let database = try Database(path: path, options: options)
      let known = Known()
      known.note(Content())
      let readers = (0..<3).map { number in
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          do {
            try read(database, known, SeededGenerator(seed: seed &* 3 &+ UInt64(number)))
          } catch {
            known.fail("reader \(number): \(error)")
          }
          done.signal()
        }
        return done
      }
      do {
        try write(database, known, SeededGenerator(seed: seed))
      } catch {
        known.fail("writer: \(error)")
      }
      known.finish()
      for reader in readers { reader.wait() }
      let failure = known.failure
      #expect(failure == nil)
      #expect(known.versionsSeen > 5)
      let findings = try IntegrityCheck.run(database.snapshot()).findings
      #expect(findings == [])
    }
  }

  private func write(_ database: Database, _ known: Known, _ start: SeededGenerator) throws {
    var (generator, content) = (start, Content())
    for _ in 0..<80 {
      guard known.goesOn else { return }
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      var next = content
      try Workload.change(transaction, &next, &generator)
      // The content is noted before it is published, because a reader may be faster than this thread.
      known.note(next)
      try transaction.commit(generator.chance(20) ? .full : .relaxed)
      content = next
    }
  }

  /// Holds some versions at once, the older ones for long, and reads each of them again and again.
  private func read(_ database: Database, _ known: Known, _ start: SeededGenerator) throws {
    var generator = start
    var held: [(snapshot: Snapshot, fingerprint: UInt64)] = []
    while known.goesOn {
      let snapshot = try database.snapshot()
      let fingerprint = try Content.fingerprint(of: snapshot)
      guard known.agrees(snapshot.version, fingerprint) else {
        return known.fail("version \(snapshot.version) is not what was written")
      }
      if held.count == 4 { held.remove(at: generator.below(4)) }
      held.append((snapshot, fingerprint))
      for (snapshot, fingerprint) in held where try Content.fingerprint(of: snapshot) != fingerprint {
        return known.fail("version \(snapshot.version) has changed")
      }
    }
  }
}
