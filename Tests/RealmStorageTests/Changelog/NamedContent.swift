import RealmStorage
import Testing

/// The objects of all tables by their names. Their values are texts that name links by primary keys and elements by
/// ids.
struct NamedContent {
  var objects: [ObjectName: [String: String]] = [:]
  private let tables: [String: Table]
  private let ids: [UInt32: TableSchema]

  init(_ snapshot: Snapshot) throws { try self.init(snapshot.schemas()) { try snapshot.table($0) } }

  init(_ transaction: WriteTransaction) throws {
    try self.init(transaction.schemas()) { try transaction.table($0)?.reading() }
  }

  private init(_ schemas: [TableSchema], _ table: (String) throws -> Table?) throws {
    var tables: [String: Table] = [:]
    for schema in schemas { tables[schema.name] = try table(schema.name) }
    self.tables = tables
    ids = Dictionary(uniqueKeysWithValues: schemas.map { ($0.id, $0) })
    for table in tables.values where !table.schema.isEmbedded {
      var keys: [UInt64] = []
      try table.forEach { key, _ in
        keys.append(key)
        return true
      }
      for key in keys { objects[try name(table, key)] = try properties(table, key) }
    }
  }

  private func name(_ table: Table, _ row: UInt64) throws -> ObjectName {
    let column = try #require(table.schema.primaryKey)
    return ObjectName(table.schema.name, try #require(try table.value(column, ofRow: row)))
  }

  private func properties(_ table: Table, _ row: UInt64) throws -> [String: String] {
    var found: [String: String] = [:]
    for (place, column) in table.schema.columns.enumerated() where !column.isCompanion {
      found[column.name] = try text(try #require(try table.value(column, ofRow: row)), place, table, row)
    }
    return found
  }

  private func text(_ value: Value, _ place: Int, _ table: Table, _ row: UInt64) throws -> String {
    let column = table.schema.columns[place]
    let schemas = ids
    let absent = try table.absentLinks(ofColumn: place, ofRow: row).map { link in
      (link, "absent \(schemas[link.table]?.name ?? "?") \(link.primaryKey)")
    }
    guard column.collection == .list else {
      let links = absent.map { link, text in
        if case .key(let key) = link.place { "\(key): \(text)" } else { text }
      }
      return try "\(text(value, column)) \(links.sorted())"
    }
    let ids = try table.elementIDs(ofList: place, ofRow: row) ?? []
    let places = try table.elementPlaces(ofList: place, ofRow: row) ?? []
    var texts: [String] = []
    var waiting = absent[...]
    let elements = value.elements ?? []
    for index in 0...elements.count {
      while let (link, text) = waiting.first, link.place == .before(index) {
        texts.append("\(link.elementID)@\(link.elementPlace) \(text)")
        waiting = waiting.dropFirst()
      }
      guard index < elements.count else { break }
      texts.append(
        "\(ids[index])@\(places.isEmpty ? 0 : places[index] ?? 0) \(try text(elements[index], column))")
    }
    #expect(waiting.isEmpty)
    return texts.joined(separator: ", ")
  }

  private func text(_ value: Value, _ column: Column) throws -> String {
    switch value {
    case .link(let row): return try text(row, try #require(ids[column.target]))
    case .typedLink(let table, let row): return try text(row, try #require(ids[table]))
    case .list(let elements, _):
      let texts = try elements.map { try text($0, column) }
      // Sets of links are in the order of their rows, so they are sorted here.
      return "[\((column.collection == .set ? texts.sorted() : texts).joined(separator: ", "))]"
    case .map(let map, _):
      return try zip(map.keys, map.values).map { "\($0.0): \(try text($0.1, column))" }.description
    default: return "\(value)"
    }
  }

  private func text(_ row: UInt64, _ schema: TableSchema) throws -> String {
    let table = try #require(tables[schema.name])
    guard schema.isEmbedded else { return "\(try name(table, row))" }
    return try properties(table, row).sorted { $0.key < $1.key }.description
  }

  func difference(to other: NamedContent) -> String? {
    for name in Set(objects.keys).union(other.objects.keys) where objects[name] != other.objects[name] {
      guard let mine = objects[name], let others = other.objects[name] else {
        return "\(name) is \(objects[name] == nil ? "there" : "missing")"
      }
      for (property, text) in mine where others[property] != text {
        return "\(name).\(property): \(text.prefix(200)) / \(others[property]?.prefix(200) ?? "nothing")"
      }
    }
    return nil
  }
}
