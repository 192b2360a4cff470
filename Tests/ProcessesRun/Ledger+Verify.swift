import RealmStorage
import RealmTestSupport

extension Ledger {
  /// Checks that a version satisfies the rules of the ledger. Returns the count of each slot.
  static func verify(_ snapshot: Snapshot) throws -> [Int: Int] {
    guard let accounts = try snapshot.table("accounts"), let slots = try snapshot.table("slots"),
      let entries = try snapshot.table("entries")
    else { return [:] }
    let place = "version \(snapshot.version)"
    try verifyAccounts(accounts, place)
    let counts = try verifySlots(slots, snapshot, place)
    try verifyEntries(entries, counts, place)
    return counts
  }

  /// Checks some of the rules for one random slot only, which is faster.
  static func glance(_ snapshot: Snapshot, _ generator: inout SeededGenerator) throws {
    guard let slots = try snapshot.table("slots"), let entries = try snapshot.table("entries"),
      slots.count > 0
    else { return }
    let row = try slots.key(at: generator.below(slots.count))
    var numbers: [Int64] = []
    for column in slots.schema.columns { numbers.append(integer(try slots.value(column, ofRow: row))) }
    let place = "version \(snapshot.version), slot \(numbers[0])"
    guard numbers[4] == digest(Array(numbers[..<4])) else { throw Violation("\(place): its row is torn") }
    guard try entries.row(withPrimaryKey: .string("\(numbers[0]) \(numbers[1])")) != nil else {
      throw Violation("\(place): entry \(numbers[1]) is missing")
    }
    guard try entries.row(withPrimaryKey: .string("\(numbers[0]) \(numbers[1] + 1)")) == nil else {
      throw Violation("\(place): entry \(numbers[1] + 1) is of a later version")
    }
  }

  private static func verifyAccounts(_ accounts: Table, _ place: String) throws {
    var (sum, wrong): (Int64, String?) = (0, nil)
    try accounts.forEach { _, values in
      sum &+= integer(values[1])
      guard case .string(let note) = values[2] else { return false }
      let expected = digest([integer(values[0]), integer(values[1])], note)
      if integer(values[3]) != expected { wrong = "account \(integer(values[0])) is torn" }
      return wrong == nil
    }
    if let wrong { throw Violation("\(place): \(wrong)") }
    guard accounts.count == Self.accounts || accounts.count == 0, sum == 0 else {
      throw Violation("\(place): \(accounts.count) accounts sum to \(sum)")
    }
  }

  private static func verifySlots(_ slots: Table, _ snapshot: Snapshot, _ place: String) throws -> [Int: Int]
  {
    var rows: [[Int64]] = []
    try slots.forEach { _, values in
      rows.append(values.map(integer))
      return true
    }
    let tree = try snapshot.tree("values")
    var counts: [Int: Int] = [:]
    for row in rows {
      guard row[4] == digest(Array(row[..<4])) else {
        throw Violation("\(place): the row of slot \(row[0]) is torn")
      }
      let value = try tree.value(for: valueKey(Int(row[0])))
      guard let value, value.count == row[2], digest(value) == row[3] else {
        throw Violation("\(place): the value of slot \(row[0]) is of another version")
      }
      counts[Int(row[0])] = Int(row[1])
    }
    return counts
  }

  private static func verifyEntries(_ entries: Table, _ counts: [Int: Int], _ place: String) throws {
    var (found, wrong): ([Int: Int], String?) = ([:], nil)
    try entries.forEach { _, values in
      let (slot, number) = (Int(integer(values[1])), Int(integer(values[2])))
      let count = counts[slot] ?? 0
      guard case .string(let text) = values[3], values[0] == .string("\(slot) \(number)"),
        integer(values[4]) == digest([Int64(slot), Int64(number)], text)
      else {
        wrong = "entry \(number) of slot \(slot) is torn"
        return false
      }
      if number <= count - window || number > count {
        wrong = "slot \(slot) has \(count) and entry \(number)"
      }
      found[slot, default: 0] += 1
      return wrong == nil
    }
    if let wrong { throw Violation("\(place): \(wrong)") }
    for (slot, count) in counts {
      guard found[slot] ?? 0 == min(count, window),
        try entries.count(with: .int(Int64(slot)), in: entries.schema.columns[1]) == min(count, window)
      else { throw Violation("\(place): slot \(slot) has \(count) and \(found[slot] ?? 0) entries") }
    }
  }

  /// The fingerprint of a version's content, by which it is told from other contents.
  static func fingerprint(_ snapshot: Snapshot) throws -> UInt64 {
    var hash = Fingerprint()
    for name in ["accounts", "slots", "entries"] {
      if let table = try snapshot.table(name) { try TableModel.add(table, to: &hash) }
    }
    try snapshot.tree("values").forEach { key, value in
      hash.add(key)
      hash.add(value)
      return true
    }
    return hash.value
  }
}
