import RealmStorage
import RealmTestSupport

/// Makes and changes objects of the model's class, as a program does.
package struct SyncedWriter {
  private let objects: WritableTable
  private let parts: WritableTable

  package init(_ transaction: WriteTransaction, time: UInt64) throws {
    try transaction.setTime(time)
    if try transaction.table(ModelClass.name) == nil { try ModelClass.make(transaction) }
    guard let objects = try transaction.table(ModelClass.name), let parts = try transaction.table("Part")
    else { throw Violation("a file has not the classes of the model") }
    (self.objects, self.parts) = (objects, parts)
  }

  private func column(_ name: String) throws -> Int {
    guard let found = objects.schema.columns.firstIndex(where: { $0.name == name }) else {
      throw Violation("the class of the model has no property \(name)")
    }
    return found
  }

  private func row(_ key: Int64) throws -> UInt64 {
    guard let found = try objects.row(withPrimaryKey: .int(key)) else {
      throw Violation("there is no object \(key) to change")
    }
    return found
  }

  package func create(_ key: Int64, field: Int64, _ text: String) throws {
    let elements: [Value] = [.int(key), .int(key + 1)]
    _ = try objects.insert([
      "id": .int(key), "q": .int(field), "m": .string(text), "c": .int(key), "l": .list(elements),
    ])
  }

  package func remove(_ key: Int64) throws { try objects.remove(row(key)) }

  package func set(_ name: String, _ value: Value, of key: Int64) throws {
    try objects.set(value, column(name), ofRow: row(key))
  }

  package func add(_ amount: Int64, to key: Int64) throws {
    try objects.add(amount, to: column("c"), ofRow: row(key))
  }

  /// Links an object to another one, by a value and in a list.
  package func link(_ key: Int64, to other: Int64) throws {
    let link = Value.link(try row(other))
    try set("n", link, of: key)
    try objects.insert([link], at: 0, ofList: column("ln"), ofRow: row(key))
  }

  /// Inserts two elements into a list, moves one and removes one.
  package func changeList(of key: Int64, _ number: Int64) throws {
    let (list, place) = (try column("l"), try row(key))
    let count = try objects.listCount(list, ofRow: place) ?? 0
    let (first, last) = (Value.int(number), Value.int(number + 1))
    try objects.insert([last], at: count, ofList: list, ofRow: place)
    try objects.insert([first], at: 0, ofList: list, ofRow: place)
    try objects.moveElement(from: 0, to: count, ofList: list, ofRow: place)
    if count > 1 { try objects.removeElements(1..<2, ofList: list, ofRow: place) }
  }

  /// Changes a set and a map.
  package func changeSorted(of key: Int64, _ number: Int64) throws {
    let place = try row(key)
    try objects.insert([Value.int(number)], intoSet: column("s"), ofRow: place)
    try objects.setValue(.int(number), forKey: "k1", ofMap: column("d"), ofRow: place)
  }

  /// Puts embedded objects into a value, a list and a map.
  package func setParts(of key: Int64, _ number: Int64) throws {
    let (list, place) = (try column("le"), try row(key))
    try objects.set(part(number), column("e"), ofRow: place)
    let element = try part(number + 1)
    try objects.insert([element], at: objects.listCount(list, ofRow: place) ?? 0, ofList: list, ofRow: place)
    try objects.setValue(part(number + 2), forKey: "k2", ofMap: column("de"), ofRow: place)
  }

  private func part(_ number: Int64) throws -> Value {
    let elements: [Value] = [.int(number)]
    return .link(try parts.insert(["r": .int(number), "l": .list(elements)]))
  }
}
