import Dispatch
import Foundation
import RealmSwift
import Synchronization
import RealmTestSupport

/// A count that several threads share.
final class Tally: Sendable {
  private let number = Atomic<Int>(0)
  var count: Int { number.load(ordering: .acquiring) }
  func add() { number.wrappingAdd(1, ordering: .releasing) }
}

/// The next step of a task.
enum Step: CaseIterable {
  case writeLater, write, look, frozenByTwo, frozenThaws, referred, variable, thread, queue
}

/// One step of a task, which involves one or two actors.
struct Hop: Sendable {
  private let configuration: Realm.Configuration
  private let one: Teller
  private let two: Teller
  private let seed: UInt64

  init(_ configuration: Realm.Configuration, _ tellers: [Teller], _ generator: inout SeededGenerator) {
    self.configuration = configuration
    one = tellers[generator.below(tellers.count)]
    two = tellers[generator.below(tellers.count)]
    seed = generator.next()
  }

  /// Takes a step.
  ///
  /// - Returns: A problem; nil if there is none.
  func take(_ step: Step) async throws -> String? {
    switch step {
    case .writeLater:
      try await one.writeLater(seed)
      return nil
    case .write:
      try await one.write(seed)
      return nil
    case .look: return try await one.look()
    case .frozenByTwo: return try await readFrozen()
    case .frozenThaws: return try await two.look(try await one.frozenList())
    case .referred:
      let (results, list) = try await one.reference()
      try await two.writeLater(seed)
      return try await two.look(results, list)
    case .variable:
      let variable = try await one.variable()
      return await Task.detached { variable.wrappedValue.flatMap { Accounts.complaint($0.accounts) } }.value
    case .thread: return try await onThreadOfItsOwn()
    case .queue: return try await onQueue()
    }
  }

  /// Lets two threads read the same frozen objects at the same time.
  private func readFrozen() async throws -> String? {
    let results = Shared(try await one.frozenResults())
    let realm = Shared(try await two.frozenRealm())
    let read: @Sendable () -> String? = {
      Accounts.complaint(results.value) ?? Accounts.complaint(realm.value.objects(MoneyAccount.self))
        ?? Accounts.complaint(realm.value.objects(MoneyBank.self)[0].accounts)
    }
    async let first = Task.detached { read() }.value
    async let second = Task.detached { read() }.value
    let before = Array(results.value.map(\.id))
    try await two.writeLater(seed)
    let after = Array(results.value.map(\.id))
    let complaints = await (first, second)
    return complaints.0 ?? complaints.1 ?? (before == after ? nil : "a frozen order has changed")
  }

  /// Freezes objects on a thread that ends while they are still read.
  private func onThreadOfItsOwn() async throws -> String? {
    let configuration = configuration
    let seed = seed
    let frozen: Shared<Results<MoneyAccount>> = try await withCheckedThrowingContinuation { continuation in
      Thread {
        continuation.resume(
          with: Result {
            let realm = try Realm(configuration: configuration)
            var generator = SeededGenerator(seed: seed)
            try realm.write { Accounts.transfer(realm, &generator) }
            return Shared(realm.objects(MoneyAccount.self).sorted(byKeyPath: "balance").freeze())
          })
      }.start()
    }
    return Accounts.complaint(frozen.value)
  }

  private func onQueue() async throws -> String? {
    let (configuration, seed) = (configuration, seed)
    let queue = DispatchQueue(label: "stress")
    return try await withCheckedThrowingContinuation { continuation in
      queue.async {
        do {
          let realm = try Realm(configuration: configuration, queue: queue)
          var generator = SeededGenerator(seed: seed)
          realm.writeAsync({ Accounts.transfer(realm, &generator) }) { error in
            if let error { return continuation.resume(throwing: error) }
            continuation.resume(returning: Accounts.complaint(realm.objects(MoneyAccount.self)))
          }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }
}
