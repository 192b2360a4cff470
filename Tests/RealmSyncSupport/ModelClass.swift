import RealmServer
import RealmStorage
import RealmSync

/// The only class of objects in the model of the merge rules. Its properties are numbers in the model, and names here.
package enum ModelClass {
  package static let name = "Object"
  static let part = "Part"

  static let names: [Int: String] = [
    1: "q", 2: "m", 3: "c", 4: "l", 5: "le", 6: "s", 7: "d", 8: "de", 9: "e", 10: "n", 11: "ln", 12: "r",
    20: "x20", 21: "x21",
  ]

  package static let settings = ServerState.Settings(partitionProperty: "q", fields: [name: ["q"]])

  package static func make(_ transaction: WriteTransaction) throws {
    let part = try transaction.createTable(
      TableSchema(
        Self.part, isEmbedded: true, hasElementIDs: true,
        columns: [
          Column("r", .int64, isOptional: true), Column("s", .int64, collection: .set),
          Column("l", .int64, collection: .list),
        ]))
    _ = try transaction.createTable(
      TableSchema(
        name, hasElementIDs: true,
        columns: [
          Column("id", .int64, index: .unique), Column("q", .int64, isOptional: true), Column("m", .mixed),
          Column("c", .int64, isOptional: true), Column("l", .int64, collection: .list),
          Column("le", .link, collection: .list, target: part.schema.id),
          Column("s", .int64, collection: .set), Column("d", .int64, collection: .map),
          Column("de", .link, collection: .map, target: part.schema.id),
          Column("e", .link, target: part.schema.id), Column("n", .link),
          Column("ln", .link, collection: .list),
        ]))
  }

  /// The filters for objects whose filter field is in a mask. An object without a number counts as if it had 0.
  package static func filters(_ mask: Int) -> ClassFilters {
    var values: [FieldFilter.Operand] = (0..<4).filter { mask >> $0 & 1 != 0 }.map { .value(.int(Int64($0))) }
    if mask & 1 != 0 { values.append(.value(.null)) }
    return ClassFilters([
      name: mask == 15 ? .everything : FieldFilter(terms: [[FieldFilter.Condition("q", .equal, values)]])
    ])
  }

  /// The query that shows these objects.
  static func query(_ mask: Int) -> QuerySet.Query {
    let values = (0..<4).filter { mask >> $0 & 1 != 0 }.map(String.init).joined(separator: ", ")
    var texts = values.isEmpty ? [] : ["q IN {\(values)}"]
    if mask & 1 != 0 { texts.append("q == nil") }
    return QuerySet.Query(table: name, predicate: mask == 15 ? "" : texts.joined(separator: " OR "))
  }

  private static let elementsOfReplica = 1 << 14

  static func id(_ number: Int) -> ElementID {
    ElementID(replica: UInt32(number / elementsOfReplica), counter: UInt32(number % elementsOfReplica))
  }

  static func path(_ text: String) throws -> InstructionPath {
    let keys = text.split(separator: "/").compactMap { Int($0) }
    guard let first = keys.first, let name = names[first] else {
      throw ScheduleError(description: "no path: \(text)")
    }
    var steps: [InstructionPath.Step] = []
    var at = first
    var isElement = false
    for key in keys.dropFirst() {
      switch (at, isElement) {
      case (4, false), (5, false), (11, false):
        steps.append(.element(id(key)))
        isElement = true
      case (7, false), (8, false):
        steps.append(.key("k\(key)"))
        isElement = true
      default:
        guard let name = names[key] else { throw ScheduleError(description: "no path: \(text)") }
        steps.append(.property(name))
        (at, isElement) = (key, false)
      }
    }
    return InstructionPath(name, steps)
  }

  static func kind(_ path: InstructionPath) -> CollectionKind {
    var name = path.property
    if case .property(let last)? = path.steps.last { name = last }
    return switch name {
    case "l", "le", "ln": .list
    case "s": .set
    default: .map
    }
  }

  // MARK: - Texts

  /// All objects in the form in which the model writes them.
  ///
  /// - Parameter number: Returns the number of a replica for its number in the file.
  package static func texts(
    _ transaction: WriteTransaction, number: @escaping (UInt32) -> UInt64
  ) throws -> [Int64: String] {
    try texts(transaction.table(name)?.reading(), transaction.table(part)?.reading(), number)
  }

  /// All objects of a version in the form in which the model writes them.
  package static func texts(
    _ snapshot: Snapshot, number: @escaping (UInt32) -> UInt64
  ) throws -> [Int64: String] {
    try texts(snapshot.table(name), snapshot.table(part), number)
  }

  private static func texts(
    _ objects: Table?, _ parts: Table?, _ number: @escaping (UInt32) -> UInt64
  ) throws -> [Int64: String] {
    guard let objects, let parts else { return [:] }
    let text = ObjectText(objects: objects, parts: parts, number: number)
    var keys: [UInt64] = []
    try objects.forEach { key, _ in
      keys.append(key)
      return true
    }
    var found: [Int64: String] = [:]
    for row in keys { found[try text.key(row)] = try text.object(row, objects) }
    return found
  }

  private struct ObjectText {
    let objects: Table
    let parts: Table
    let number: (UInt32) -> UInt64

    func key(_ row: UInt64) throws -> Int64 {
      guard case .int(let key)? = try objects.value(objects.schema.columns[0], ofRow: row) else {
        throw ScheduleError(description: "an object without a key")
      }
      return key
    }

    func object(_ row: UInt64, _ table: Table) throws -> String {
      var text = "("
      for (property, name) in names.sorted(by: { $0.key < $1.key }) {
        guard let column = table.schema.columns.firstIndex(where: { $0.name == name }) else { continue }
        let value = try self.text(column, row, table)
        if ["n", "[]", "<>", "{}", "~", "-"].contains(value) { continue }
        text += "\(property):\(value);"
      }
      return text + ")"
    }

    private func text(_ column: Int, _ row: UInt64, _ table: Table) throws -> String {
      let value = try table.value(table.schema.columns[column], ofRow: row) ?? .null
      switch table.schema.columns[column].collection {
      case .none:
        if let link = try table.absentLinks(ofColumn: column, ofRow: row).first,
          case .int(let key) = link.primaryKey
        {
          return ">\(key)"
        }
        if value == .null, table.schema.columns[column].target != 0,
          table.schema.columns[column].target == parts.schema.id
        {
          return "~"
        }
        return try single(value, table.schema.columns[column])
      case .set:
        return "<"
          + (try (value.elements ?? []).map { try single($0, table.schema.columns[column]) + "," }).joined()
          + ">"
      case .map:
        guard case .map(let map, _) = value else { return "{}" }
        var text = "{"
        for (key, value) in zip(map.keys, map.values) {
          text += "\(key.dropFirst())=\(try single(value, table.schema.columns[column])),"
        }
        return text + "}"
      case .list: return try list(value.elements ?? [], column, row, table)
      }
    }

    private func list(_ elements: [Value], _ column: Int, _ row: UInt64, _ table: Table) throws -> String {
      let ids = try table.elementIDs(ofList: column, ofRow: row) ?? []
      var waiting = try table.absentLinks(ofColumn: column, ofRow: row)[...]
      var text = "["
      func id(_ stored: UInt64) -> UInt64 {
        let id = ElementID(stored: stored)
        return number(id.replica) * UInt64(elementsOfReplica) + UInt64(id.counter)
      }
      for index in 0...elements.count {
        while let link = waiting.first, link.place == .before(index), case .int(let key) = link.primaryKey {
          text += "\(id(link.elementID)):>\(key),"
          waiting = waiting.dropFirst()
        }
        guard index < elements.count else { break }
        text += "\(id(ids[index])):\(try single(elements[index], table.schema.columns[column])),"
      }
      return text + "]"
    }

    private func single(_ value: Value, _ column: Column) throws -> String {
      switch value {
      case .null: "n"
      case .int(let number): "\(number)"
      case .string(let text): "\"\(text)\""
      case .link(let row):
        column.target == parts.schema.id ? try object(row, parts) : ">\(try key(row))"
      default: "?"
      }
    }
  }
}
