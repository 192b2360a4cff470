import Dispatch
import Foundation
import RealmSwift
import RealmTestSupport

class MoneyAccount: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var balance: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class MoneyBank: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var accounts: List<MoneyAccount>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Accounts whose sum is the same in every version of the file.
struct Accounts: Sendable {
  static let count = 20
  static let sum = count * 100

  let file = TemporaryFile()
  let configuration: Realm.Configuration

  init() throws {
    var configuration = file.configuration
    configuration.objectTypes = [MoneyAccount.self, MoneyBank.self]
    self.configuration = configuration
    let realm = try Realm(configuration: configuration)
    try realm.write {
      let bank = MoneyBank(value: ["id": 1])
      for id in 0..<Self.count { bank.accounts.append(MoneyAccount(value: ["id": id, "balance": 100])) }
      realm.add(bank)
    }
  }

  /// The problem that two reads of the accounts show; nil if both show what always holds.
  static func complaint<Seen: RealmCollection>(_ accounts: Seen) -> String?
  where Seen.Element == MoneyAccount {
    let read = { accounts.reduce(into: [Int: Int]()) { $0[$1.id] = $1.balance } }
    let (first, second) = (read(), read())
    let summed: Int = accounts.sum(ofProperty: "balance")
    if first != second { return "two reads differ: \(first) and \(second)" }
    let sum = first.values.reduce(0, +)
    return sum == Self.sum && summed == sum && first.count == count
      ? nil : "the sum of \(first.count) accounts is \(sum), and \(summed) by a query"
  }

  /// Moves an amount from one account to another, in a transaction.
  static func transfer(_ realm: Realm, _ generator: inout SeededGenerator) {
    let bank = realm.objects(MoneyBank.self)[0].accounts
    let amount = generator.below(10)
    let (giver, taker) = (bank[generator.below(bank.count)], bank[generator.below(bank.count)])
    giver.balance -= amount
    taker.balance += amount
    if generator.chance(20) { bank.swapAt(generator.below(bank.count), generator.below(bank.count)) }
  }
}

/// An actor that moves money and takes the values that others send.
actor Teller {
  private let configuration: Realm.Configuration
  private var opened: Realm?

  init(_ configuration: Realm.Configuration) { self.configuration = configuration }

  private func realm() async throws -> Realm {
    if let opened { return opened }
    let realm = try await Realm(configuration: configuration, actor: self)
    opened = realm
    return realm
  }

  func writeLater(_ seed: UInt64) async throws {
    let realm = try await realm()
    var generator = SeededGenerator(seed: seed)
    try await realm.asyncWrite { Accounts.transfer(realm, &generator) }
  }

  func write(_ seed: UInt64) async throws {
    let realm = try await realm()
    var generator = SeededGenerator(seed: seed)
    try realm.write { Accounts.transfer(realm, &generator) }
  }

  /// Checks the live accounts, before and after others have used the actor.
  func look() async throws -> String? {
    let realm = try await realm()
    let (results, list) = (realm.objects(MoneyAccount.self), realm.objects(MoneyBank.self)[0].accounts)
    if let complaint = Accounts.complaint(results) ?? Accounts.complaint(list) { return complaint }
    await Task.yield()
    await realm.asyncRefresh()
    return Accounts.complaint(results) ?? Accounts.complaint(list)
  }

  func frozenResults() async throws -> sending Results<MoneyAccount> {
    try await realm().objects(MoneyAccount.self).filter("id >= 0").sorted(byKeyPath: "balance").freeze()
  }
  func frozenList() async throws -> sending List<MoneyAccount> {
    try await realm().objects(MoneyBank.self)[0].accounts.freeze()
  }
  func frozenRealm() async throws -> sending Realm { try await realm().freeze() }

  func reference() async throws -> (
    ThreadSafeReference<Results<MoneyAccount>>, ThreadSafeReference<List<MoneyAccount>>
  ) {
    let realm = try await realm()
    return (
      ThreadSafeReference(to: realm.objects(MoneyAccount.self)),
      ThreadSafeReference(to: realm.objects(MoneyBank.self)[0].accounts)
    )
  }

  func variable() async throws -> ThreadSafe<MoneyBank> {
    @ThreadSafe var bank = try await realm().objects(MoneyBank.self)[0]
    return $bank
  }

  /// Checks collections that another thread or actor refers to.
  func look(
    _ results: ThreadSafeReference<Results<MoneyAccount>>, _ list: ThreadSafeReference<List<MoneyAccount>>
  ) async throws -> String? {
    let realm = try await realm()
    guard let results = realm.resolve(results), let list = realm.resolve(list) else { return "it is gone" }
    return Accounts.complaint(results) ?? Accounts.complaint(list)
  }

  /// Checks a list that another actor has frozen, and the live list of the same accounts.
  func look(_ frozen: sending List<MoneyAccount>) async throws -> String? {
    _ = try await realm()
    let list = frozen
    if let complaint = Accounts.complaint(list) { return complaint }
    guard let thawed = list.thaw() else { return "the list is gone" }
    return Accounts.complaint(thawed) ?? Accounts.complaint(list)
  }
}
