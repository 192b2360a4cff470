import Dispatch
import Foundation
import RealmSwift
import RealmTestSupport
import Testing

@Suite(.serialized) struct StressTests {
  @Test func `tasks move between actors, threads and queues, and see only whole versions`() async throws {
    let seed = Slow.isAsked ? UInt64.random(in: 0..<1_000_000) : 1
    let accounts = try Accounts()
    let tellers = (0..<8).map { _ in Teller(accounts.configuration) }
    let deadline = ContinuousClock.now.advanced(by: .milliseconds(Slow.count(800, slow: 60_000)))
    let steps = Tally()
    let complaints = await withTaskGroup(of: String?.self) { group -> [String] in
      for task in 0..<Slow.count(200, slow: 1_000) {
        group.addTask {
          var generator = SeededGenerator(seed: seed &* 100_000 &+ UInt64(task))
          var kind = -1
          do {
            repeat {
              kind = generator.below(Step.allCases.count)
              let hop = Hop(accounts.configuration, tellers, &generator)
              if let complaint = try await hop.take(Step.allCases[kind]) {
                return "\(Step.allCases[kind]): \(complaint)"
              }
              steps.add()
            } while ContinuousClock.now < deadline
            return nil
          } catch {
            return "\(kind): thrown \(error)"
          }
        }
      }
      return await group.reduce(into: []) { if let complaint = $1 { $0.append(complaint) } }
    }
    print("Stress of threads: seed \(seed), \(steps.count) steps.")
    #expect(complaints == [], "seed \(seed)")
    #expect(steps.count >= 200, "seed \(seed)")
    #expect(try await tellers[0].look() == nil)
  }

  @Test func `objects of ended threads and queues are read elsewhere, and the file closes at last`() throws {
    for round in 0..<Slow.count(20, slow: 1_000) {
      let accounts = try Accounts()
      var left: Shared<Leftover>? = try Shared(
        round.isMultiple(of: 2) ? leftByThread(accounts) : leftByQueue(accounts))
      let shared = left!
      // The reader of a thread that has ended is removed when another thread reads.
      for _ in 0..<3 {
        let complaint = try onThread {
          let left = shared.value
          let complaint = Accounts.complaint(left.results) ?? Accounts.complaint(left.list)
          let realm = try Realm(configuration: accounts.configuration)
          try realm.write { realm.objects(MoneyAccount.self)[0].balance += 0 }
          return complaint ?? Accounts.complaint(left.realm.objects(MoneyAccount.self))
        }
        #expect(complaint == nil)
      }
      let resolved = try onThread {
        let realm = try Realm(configuration: accounts.configuration)
        guard let list = realm.resolve(shared.value.reference) else { return "it is gone" as String? }
        return Accounts.complaint(list)
          ?? shared.value.variable.wrappedValue.flatMap { Accounts.complaint($0.accounts) }
      }
      #expect(resolved == nil)
      left = nil
      _ = left
    }
  }

  /// Objects that outlive the thread or queue that made them. Its live realm is not used, only released.
  private struct Leftover {
    let live: Realm
    let realm: Realm
    let results: Results<MoneyAccount>
    let list: List<MoneyAccount>
    let reference: ThreadSafeReference<List<MoneyAccount>>
    let variable: ThreadSafe<MoneyBank>

    init(_ realm: Realm) {
      live = realm
      self.realm = realm.freeze()
      results = realm.objects(MoneyAccount.self).freeze()
      let bank = realm.objects(MoneyBank.self)[0]
      list = bank.accounts.freeze()
      reference = ThreadSafeReference(to: bank.accounts)
      variable = ThreadSafe(wrappedValue: bank)
    }
  }

  private func leftByThread(_ accounts: Accounts) throws -> Leftover {
    let configuration = accounts.configuration
    return try onThread { Shared(Leftover(try Realm(configuration: configuration))) }.value
  }

  private func leftByQueue(_ accounts: Accounts) throws -> Leftover {
    let queue = DispatchQueue(label: "ends")
    return try queue.sync { Leftover(try Realm(configuration: accounts.configuration, queue: queue)) }
  }

  @Test func `a transaction whose turn has come gives way if its thread waits for another writer`() throws {
    let accounts = try Accounts()
    let configuration = accounts.configuration
    let queue = DispatchQueue(label: "waits")
    let done = DispatchSemaphore(value: 0)
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      for _ in 0..<3 { realm.writeAsync { realm.objects(MoneyAccount.self)[0].balance += 1 } }
      realm.writeAsync({ realm.objects(MoneyAccount.self)[0].balance -= 3 }) { _ in done.signal() }
      // The lock is taken for the first of these transactions, which can't begin before this block returns.
      for _ in 0..<3 {
        try onThread {
          let realm = try Realm(configuration: configuration)
          try realm.write { realm.objects(MoneyAccount.self)[1].balance += 0 }
        }
      }
    }
    done.wait()
    #expect(Accounts.complaint(try Realm(configuration: configuration).objects(MoneyAccount.self)) == nil)
  }

  @Test func `a file closes with the last frozen object or reference of an ended thread`() throws {
    let accounts = try Accounts()
    nonisolated(unsafe) var left: Leftover? = try leftByThread(accounts)
    #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: accounts.configuration) }
    #expect(left?.list.count == Accounts.count)
    try onThread { left = nil }
    #expect(try Realm.deleteFiles(for: accounts.configuration))
  }

  @Test(.enabled(if: Slow.isAsked))
  func `tasks that write asynchronously get all their turns beside a thread that writes without pause`()
    async throws
  {
    let accounts = try Accounts()
    let configuration = accounts.configuration
    let isOver = Tally()
    let written = Tally()
    let thread = Task.detached {
      await withCheckedContinuation { continuation in
        Thread {
          let realm = try! Realm(configuration: configuration)
          var generator = SeededGenerator(seed: 0)
          while isOver.count == 0 {
            try! realm.write { Accounts.transfer(realm, &generator) }
            written.add()
          }
          continuation.resume()
        }.start()
      }
    }
    let start = ContinuousClock.now
    let times = try await withThrowingTaskGroup(of: Duration.self) { group in
      for writer in 0..<8 {
        group.addTask {
          let teller = Teller(configuration)
          for round in 0..<200 { try await teller.writeLater(UInt64(writer * 1_000 + round)) }
          return ContinuousClock.now - start
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }.sorted()
    }
    isOver.add()
    await thread.value
    print(
      "Turns: 8 writers of 200 transactions end after \(times); the thread wrote \(written.count)."
    )
    #expect(times[7] < times[0] * 1.2)
  }
}
