import RealmStorage
import RealmTestSupport

/// Notes of commits. Each writer of a file has an object that only this writer changes. The object counts the writer's
/// commits in three ways, which agree in every version of the file, of the server's file and of all other files.
package enum CommitNotes {
  private static let firstKey: Int64 = 1000
  private static let firstLongKey: Int64 = 2000
  /// The list holds the numbers of this many last commits.
  private static let window = 10

  private static func key(_ slot: Int) -> Value { .int(firstKey + Int64(slot)) }

  private static func column(_ name: String, _ schema: TableSchema) throws -> Int {
    guard let column = schema.columns.firstIndex(where: { $0.name == name }) else {
      throw Violation("the class has no property \(name)")
    }
    return column
  }

  private static func table(_ transaction: WriteTransaction) throws -> WritableTable {
    guard let objects = try transaction.table(ModelClass.name) else {
      throw Violation("there is no class \(ModelClass.name)")
    }
    return objects
  }

  /// The number of commits of a writer, in a transaction.
  package static func count(of slot: Int, in transaction: WriteTransaction) throws -> Int {
    let objects = try table(transaction)
    guard let row = try objects.row(withPrimaryKey: key(slot)),
      case .int(let count)? = try objects.value(column("c", objects.schema), ofRow: row)
    else { return 0 }
    return Int(count)
  }

  /// Notes a commit of a writer, by its number.
  package static func write(_ transaction: WriteTransaction, slot: Int, number: Int) throws {
    let objects = try table(transaction)
    let row =
      try objects.row(withPrimaryKey: key(slot)) ?? objects.insert(["id": key(slot), "c": .int(0)])
    let (sum, last) = (try column("c", objects.schema), try column("m", objects.schema))
    let list = try column("l", objects.schema)
    let value = Value.int(Int64(number))
    try objects.add(1, to: sum, ofRow: row)
    try objects.set(value, last, ofRow: row)
    let count = try objects.listCount(list, ofRow: row) ?? 0
    // Every second number is inserted at the front and moved behind the others.
    let place = number % 2 == 0 ? 0 : count
    try objects.insert([value], at: place, ofList: list, ofRow: row)
    if place < count { try objects.moveElement(from: 0, to: count, ofList: list, ofRow: row) }
    if count == window { try objects.removeElements(0..<1, ofList: list, ofRow: row) }
  }

  /// Writes a text that is so long that it is stored apart from its changeset.
  package static func writeLong(_ transaction: WriteTransaction, slot: Int, number: Int) throws {
    let objects = try table(transaction)
    let key = Value.int(firstLongKey + Int64(slot))
    let row = try objects.row(withPrimaryKey: key) ?? objects.insert(["id": key])
    let text = String(repeating: "\(number) ", count: 300_000)
    try objects.set(.string(text), column("m", objects.schema), ofRow: row)
  }

  /// The number of commits of each writer. The function checks that all notes of them agree.
  package static func verify(_ snapshot: Snapshot, slots: Range<Int>) throws -> [Int: Int] {
    guard let objects = try snapshot.table(ModelClass.name) else { return [:] }
    var counts: [Int: Int] = [:]
    for slot in slots {
      guard let row = try objects.row(withPrimaryKey: key(slot)) else { continue }
      func value(_ name: String) throws -> Value {
        let place = try column(name, objects.schema)
        return try objects.value(objects.schema.columns[place], ofRow: row) ?? .null
      }
      let (sum, last, list) = (try value("c"), try value("m"), try value("l").elements ?? [])
      guard case .int(let count) = sum, count > 0 else {
        throw Violation("version \(snapshot.version), slot \(slot): its object counts \(sum)")
      }
      let expected = (max(1, count - Int64(window) + 1)...count).map { Value.int($0) }
      guard last == sum, list == expected else {
        throw Violation(
          "version \(snapshot.version), slot \(slot): its object counts \(count), the last is \(last), and "
            + "its list has \(list)")
      }
      counts[slot] = Int(count)
    }
    return counts
  }
}
