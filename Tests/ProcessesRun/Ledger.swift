import RealmStorage
import RealmTestSupport

/// The content that all workers write. Every version of it satisfies these rules, whichever worker wrote last: the
/// balances of all accounts sum to zero; each row has a digest of its values; the row of each worker's slot counts the
/// commits of the slot; each slot has the entries of its last commits, and a long value that fits the length and the
/// digest in the slot's row.
enum Ledger {
  static let accounts = 150
  /// The number of entries of a slot that are kept.
  static let window = 10

  enum Size {
    case small
    /// A transaction of more than 1 MiB. Its nodes are synced before its meta page is written.
    case large
  }

  static func prepare(_ transaction: WriteTransaction) throws {
    guard try transaction.table("accounts") == nil else { return }
    let accounts = try transaction.createTable(
      TableSchema(
        "accounts",
        columns: [
          Column("id", .int64, index: .unique), Column("balance", .int64), Column("note", .string),
          Column("digest", .int64),
        ]))
    for number in 0..<Self.accounts { _ = try accounts.insert(account(Int64(number), 0, "new")) }
    _ = try transaction.createTable(
      TableSchema(
        "slots",
        columns: [
          Column("slot", .int64, index: .unique), Column("count", .int64), Column("length", .int64),
          Column("value", .int64), Column("digest", .int64),
        ]))
    _ = try transaction.createTable(
      TableSchema(
        "entries",
        columns: [
          Column("name", .string, index: .unique), Column("slot", .int64, index: .plain),
          Column("number", .int64), Column("text", .string), Column("digest", .int64),
        ]))
  }

  /// The number of commits of a slot that a transaction sees.
  static func count(of slot: Int, in transaction: WriteTransaction) throws -> Int {
    let slots = try table("slots", in: transaction)
    guard let row = try slots.row(withPrimaryKey: .int(Int64(slot))) else { return 0 }
    return Int(integer(try slots.value(1, ofRow: row)))
  }

  /// Makes the changes of a slot's commit number `number`.
  static func write(
    _ transaction: WriteTransaction, slot: Int, number: Int, size: Size, _ generator: inout SeededGenerator
  ) throws {
    let accounts = try table("accounts", in: transaction)
    for _ in 0...generator.below(3) { try transfer(accounts, &generator) }
    if generator.chance(15) { try replaceAccount(accounts, &generator) }
    let entries = try table("entries", in: transaction)
    _ = try entries.insert(entry(slot, number, text(&generator)))
    if number > window {
      guard let row = try entries.row(withPrimaryKey: .string("\(slot) \(number - window)")),
        try entries.remove(row)
      else { throw Violation("slot \(slot): entry \(number - window) is gone before its time") }
    }
    try writeSlot(transaction, slot: slot, number: number, size: size, &generator)
  }

  // MARK: - Changes

  private static func transfer(_ accounts: WritableTable, _ generator: inout SeededGenerator) throws {
    let amount = Int64(generator.below(1000))
    let (from, to) = try (randomRow(accounts, &generator), randomRow(accounts, &generator))
    for (row, change) in [(from, -amount), (to, amount)] {
      let balance = integer(try accounts.value(1, ofRow: row)) + change
      let id = integer(try accounts.value(0, ofRow: row))
      let values = account(id, balance, text(&generator))
      for (name, value) in values where name != "id" { _ = try accounts.set(value, name, ofRow: row) }
    }
  }

  /// Removes an account, and gives its balance to a new account.
  private static func replaceAccount(_ accounts: WritableTable, _ generator: inout SeededGenerator) throws {
    let row = try randomRow(accounts, &generator)
    let balance = integer(try accounts.value(1, ofRow: row))
    _ = try accounts.remove(row)
    _ = try accounts.insert(account(Int64(generator.next() >> 2), balance, text(&generator)))
  }

  private static func writeSlot(
    _ transaction: WriteTransaction, slot: Int, number: Int, size: Size, _ generator: inout SeededGenerator
  ) throws {
    let slots = try table("slots", in: transaction)
    let key = Value.int(Int64(slot))
    let known = try slots.row(withPrimaryKey: key)
    let row = try known ?? slots.insert(["slot": key])
    var (length, hash) = (integer(try slots.value(2, ofRow: row)), integer(try slots.value(3, ofRow: row)))
    if size == .large || known == nil || generator.chance(20) {
      let count = size == .large ? 1_100_000 + generator.below(300_000) : generator.below(20_000)
      let value = generator.bytes(16) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count)
      try transaction.tree("values").set(value, for: valueKey(slot))
      (length, hash) = (Int64(value.count), digest(value))
    }
    let values: [(String, Int64)] = [
      ("count", Int64(number)), ("length", length), ("value", hash),
      ("digest", digest([Int64(slot), Int64(number), length, hash])),
    ]
    for (name, value) in values { _ = try slots.set(.int(value), name, ofRow: row) }
  }

  private static func randomRow(_ table: WritableTable, _ generator: inout SeededGenerator) throws -> UInt64 {
    let reading = try table.reading()
    guard reading.count == accounts else { throw Violation("\(reading.count) accounts in a transaction") }
    return try reading.key(at: generator.below(reading.count))
  }

  private static func table(_ name: String, in transaction: WriteTransaction) throws -> WritableTable {
    guard let table = try transaction.table(name) else { throw Violation("there is no table \(name)") }
    return table
  }

  // MARK: - Values

  static func valueKey(_ slot: Int) -> [UInt8] { [UInt8(slot)] }

  private static func account(_ id: Int64, _ balance: Int64, _ note: String) -> [String: Value] {
    [
      "id": .int(id), "balance": .int(balance), "note": .string(note),
      "digest": .int(digest([id, balance], note)),
    ]
  }

  private static func entry(_ slot: Int, _ number: Int, _ text: String) -> [String: Value] {
    [
      "name": .string("\(slot) \(number)"), "slot": .int(Int64(slot)), "number": .int(Int64(number)),
      "text": .string(text), "digest": .int(digest([Int64(slot), Int64(number)], text)),
    ]
  }

  private static func text(_ generator: inout SeededGenerator) -> String {
    generator.chance(5)
      ? String(repeating: "long ", count: generator.below(800)) : "\(generator.next() >> 20)"
  }

  static func integer(_ value: Value?) -> Int64 {
    if case .int(let number) = value { number } else { .min }
  }

  static func digest(_ numbers: [Int64], _ text: String = "") -> Int64 {
    var hash = Fingerprint()
    for number in numbers { hash.add(UInt64(bitPattern: number)) }
    hash.add(Array(text.utf8))
    return Int64(bitPattern: hash.value)
  }

  static func digest(_ bytes: [UInt8]) -> Int64 {
    var hash = Fingerprint()
    hash.add(bytes)
    return Int64(bitPattern: hash.value)
  }
}
