import RealmStorage
import RealmTestSupport

/// Makes random changes of objects of the model's class, as a program does.
struct RandomWriter {
  private let objects: WritableTable
  private let parts: WritableTable
  /// The bound of the primary keys: the writer uses keys below it.
  private let keys: Int
  /// The value that all objects have in their filter field; nil if each object may have its own.
  private let field: Value?

  init?(_ transaction: WriteTransaction, keys: Int, field: Value? = nil) throws {
    guard let objects = try transaction.table(ModelClass.name),
      let parts = try transaction.table(ModelClass.part)
    else { return nil }
    (self.objects, self.parts, self.keys, self.field) = (objects, parts, keys, field)
  }

  private func column(_ name: String) -> Int? { objects.schema.columns.firstIndex { $0.name == name } }

  private func number(_ generator: inout SeededGenerator) -> Value { .int(Int64(generator.below(1000))) }

  private func part(_ generator: inout SeededGenerator) throws -> Value {
    .link(try parts.insert(["r": number(&generator)]))
  }

  private func create(_ key: Int64, _ generator: inout SeededGenerator) throws {
    var values: [String: Value] = ["id": .int(key), "q": field ?? .int(Int64(generator.below(4)))]
    if generator.chance(30) { values["c"] = number(&generator) }
    if generator.chance(30) { values["l"] = .list([number(&generator), number(&generator)]) }
    _ = try objects.insert(values)
  }

  /// Makes one random change.
  func change(_ generator: inout SeededGenerator) throws {
    let key = Int64(generator.below(keys))
    guard let row = try objects.row(withPrimaryKey: .int(key)) else { return try create(key, &generator) }
    switch generator.below(14) {
    case 0 where generator.chance(50): try objects.remove(row)
    case 0:
      try objects.remove(row)
      try create(key, &generator)
    case 1 where field == nil: try set("q", .int(Int64(generator.below(4))), row)
    case 2: try set("c", generator.chance(20) ? .null : number(&generator), row)
    case 3: if let column = column("c") { try objects.add(Int64(generator.below(9)), to: column, ofRow: row) }
    case 4:
      try set("m", generator.chance(50) ? number(&generator) : .string("text \(generator.below(9))"), row)
    case 5, 6: try changeList("l", row, number, &generator)
    case 7: try changeParts(row, &generator)
    case 8: try changeSet(row, &generator)
    case 9: try changeMap("d", row, number, &generator)
    case 10: try changeMap("de", row, part, &generator)
    case 11: try changeEmbedded(row, &generator)
    case 12: try set("n", try someone(&generator), row)
    default:
      let someone = try someone(&generator)
      if someone != .null { try changeList("ln", row, { _ in someone }, &generator) }
    }
  }

  private func set(_ name: String, _ value: Value, _ row: UInt64) throws {
    if let column = column(name) { try objects.set(value, column, ofRow: row) }
  }

  private func someone(_ generator: inout SeededGenerator) throws -> Value {
    try objects.row(withPrimaryKey: .int(Int64(generator.below(keys)))).map { .link($0) } ?? .null
  }

  private func changeList(
    _ name: String, _ row: UInt64, _ value: (inout SeededGenerator) throws -> Value,
    _ generator: inout SeededGenerator
  ) throws {
    guard let list = column(name) else { return }
    let count = try objects.listCount(list, ofRow: row) ?? 0
    guard count > 0, generator.chance(65) else {
      let place = generator.chance(50) ? count : generator.below(count + 1)
      _ = try objects.insert([value(&generator)], at: place, ofList: list, ofRow: row)
      return
    }
    let place = generator.below(count)
    switch generator.below(12) {
    case 0: try objects.set(.list([]), list, ofRow: row)
    case 1: try objects.set(.list([value(&generator), value(&generator)]), list, ofRow: row)
    case 2, 3, 4: try objects.moveElement(from: place, to: generator.below(count), ofList: list, ofRow: row)
    case 5, 6: try objects.setElement(value(&generator), at: place, ofList: list, ofRow: row)
    default: try objects.removeElements(place..<place + 1, ofList: list, ofRow: row)
    }
  }

  private func changeParts(_ row: UInt64, _ generator: inout SeededGenerator) throws {
    guard let list = column("le") else { return }
    let count = try objects.listCount(list, ofRow: row) ?? 0
    if count > 0, generator.chance(60),
      case .link(let part)? = try objects.element(at: generator.below(count), ofList: list, ofRow: row)
    {
      return try changePart(part, &generator)
    }
    try changeList("le", row, part, &generator)
  }

  private func changePart(_ part: UInt64, _ generator: inout SeededGenerator) throws {
    func column(_ name: String) -> Int { parts.schema.columns.firstIndex { $0.name == name } ?? 0 }
    switch generator.below(4) {
    case 0: try parts.add(3, to: column("r"), ofRow: part)
    case 1: try parts.insert([.int(Int64(generator.below(3)))], intoSet: column("s"), ofRow: part)
    case 2: try parts.append([number(&generator)], toList: column("l"), ofRow: part)
    default: try parts.set(number(&generator), column("r"), ofRow: part)
    }
  }

  private func changeSet(_ row: UInt64, _ generator: inout SeededGenerator) throws {
    guard let set = column("s") else { return }
    let value = Value.int(Int64(generator.below(4)))
    switch generator.below(8) {
    case 0: try objects.set(.list([]), set, ofRow: row)
    case 1, 2, 3: try objects.remove(value, fromSet: set, ofRow: row)
    default: try objects.insert([value], intoSet: set, ofRow: row)
    }
  }

  private func changeMap(
    _ name: String, _ row: UInt64, _ value: (inout SeededGenerator) throws -> Value,
    _ generator: inout SeededGenerator
  ) throws {
    guard let map = column(name) else { return }
    let key = "k\(1 + generator.below(2))"
    if name == "de", generator.chance(50),
      case .link(let part)? = try objects.value(forKey: key, ofMap: map, ofRow: row)
    {
      return try changePart(part, &generator)
    }
    switch generator.below(8) {
    case 0: try objects.set(.map(ValueMap()), map, ofRow: row)
    case 1, 2: try objects.removeValue(forKey: key, ofMap: map, ofRow: row)
    default: try objects.setValue(value(&generator), forKey: key, ofMap: map, ofRow: row)
    }
  }

  private func changeEmbedded(_ row: UInt64, _ generator: inout SeededGenerator) throws {
    guard let column = column("e") else { return }
    if case .link(let part)? = try objects.reading().value(objects.schema.columns[column], ofRow: row),
      generator.chance(60)
    {
      return try changePart(part, &generator)
    }
    try objects.set(generator.chance(25) ? .null : try part(&generator), column, ofRow: row)
  }
}
