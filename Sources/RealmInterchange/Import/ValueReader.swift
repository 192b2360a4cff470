package import RealmStorage

/// Reads values of columns from JSON, in the forms that docs/dump-format.md describes for objects.
package struct ValueReader {
  package let tables: ImportTables

  /// Whether links may name an object by the key of its row.
  private let knowsKeys: Bool
  /// Whether members that are not properties of the table are left out. Otherwise they are errors.
  private let skipsUnknown: Bool

  package init(_ tables: ImportTables, knowsKeys: Bool = false, skipsUnknown: Bool = false) {
    (self.tables, self.knowsKeys, self.skipsUnknown) = (tables, knowsKeys, skipsUnknown)
  }

  /// A fault in a value. Its offset counts from the start of the text that was read.
  package struct Problem: Error {
    package var offset: Int
    package var value: String
    package var reason: String
    /// The name of the property, with those of the properties of embedded objects that lead to it.
    package var property: String?

    package init(_ node: JSONNode, _ reason: String, property: String? = nil) {
      (offset, value, self.reason, self.property) = (node.offset, node.shown, reason, property)
    }
  }

  /// The cells of an object: one for each member that is a property.
  ///
  /// - Parameters:
  ///   - level: the number of objects around this one.
  ///   - place: gives the place in the input of an offset in the text.
  package func cells(
    of node: JSONNode, _ schema: TableSchema, level: Int = 0,
    place: (Int) -> InputPlace
  ) throws(Problem) -> [ObjectDraft.Cell] {
    guard level < ObjectWriter.mostLevels else {
      throw Problem(node, "stands in more than \(ObjectWriter.mostLevels) objects.")
    }
    guard let members = node.members else {
      throw Problem(node, "is no object of \(schema.name): that has members in braces.")
    }
    let positions = tables.positions(of: schema)
    var cells: [ObjectDraft.Cell] = []
    for member in members {
      guard let position = positions[Array(member.name.utf8)] else {
        if skipsUnknown { continue }
        throw Problem(
          member.value, "has no place: \(schema.name) has no property of that name.", property: member.name)
      }
      let column = schema.columns[position]
      do throws(Problem) {
        let value = try cell(member.value, column, level: level, place: place)
        cells.append(ObjectDraft.Cell(column: position, value: value, place: place(member.value.offset)))
      } catch {
        var problem = error
        problem.property = member.name + (problem.property.map { "." + $0 } ?? "")
        throw problem
      }
    }
    return cells
  }

  /// The value of one cell of an object.
  package func cell(
    _ node: JSONNode, _ column: Column, level: Int = 0, place: (Int) -> InputPlace
  ) throws(Problem) -> ValueDraft {
    switch column.collection {
    case .none: return try one(node, column, level, place: place)
    case .list, .set:
      guard let elements = node.array else {
        throw Problem(node, "is no array, which a \(column.collection.name) is.")
      }
      var drafts: [ValueDraft] = []
      for element in elements { drafts.append(try one(element, column, level, place: place)) }
      if column.collection == .set, drafts.contains(where: \.isNested) {
        throw Problem(node, "has a list or a map in it, which no set has.")
      }
      guard let values = Self.values(drafts) else { return .list(drafts) }
      return .value(column.collection == .set ? .set(values) : .list(values))
    case .map:
      guard let members = node.members else { throw Problem(node, "is no object, which a map is.") }
      var entries: [(key: String, value: ValueDraft)] = []
      for member in members {
        entries.append((key: member.name, value: try one(member.value, column, level, place: place)))
      }
      guard let values = Self.values(entries.map(\.value)) else { return .map(entries) }
      return .value(.map(ValueMap(entries: zip(entries.map(\.key), values).map { (key: $0, value: $1) })))
    }
  }

  /// The values of drafts; nil if links or embedded objects are among them.
  private static func values(_ drafts: [ValueDraft]) -> [Value]? {
    var values: [Value] = []
    for draft in drafts {
      guard case .value(let value) = draft else { return nil }
      values.append(value)
    }
    return values
  }

  private func one(
    _ node: JSONNode, _ column: Column, _ level: Int, place: (Int) -> InputPlace
  ) throws(Problem) -> ValueDraft {
    if node.isNull {
      guard column.isOptional else { throw Problem(node, "can't be: the property is not optional.") }
      return .value(.null)
    }
    switch column.type {
    case .mixed:
      return try mixed(node, 0)
    case .link:
      guard let target = tables.schema(column.target) else { throw Problem(node, "links to no table.") }
      guard target.isEmbedded else { return .link(try link(node, to: target, isTyped: false)) }
      let cells = try cells(of: node, target, level: level + 1, place: place)
      return .embedded(ObjectDraft(table: target.id, cells: cells, place: place(node.offset)))
    default: return .value(try Self.plain(node, column.type))
    }
  }

  // MARK: - Links

  private func link(_ node: JSONNode, to target: TableSchema, isTyped: Bool) throws(Problem) -> LinkDraft {
    func draft(_ found: LinkDraft.Target) -> LinkDraft {
      LinkDraft(table: target.id, target: found, isTyped: isTyped, shown: "\(target.name) \(node.shown)")
    }
    if let key = node.tagged("$link") {
      try checkKeys(node, target)
      return draft(.oldKey(try Self.unsigned(key)))
    }
    guard let column = target.primaryKey else {
      throw Problem(node, "links to no object: \(target.name) has no primary key.")
    }
    if let key = node.tagged("$primaryKey") {
      return draft(.primaryKey(key.isNull ? .null : try Self.plain(key, column.type)))
    }
    return draft(.primaryKey(try Self.plain(node, column.type)))
  }

  private func checkKeys(_ node: JSONNode, _ target: TableSchema) throws(Problem) {
    guard !knowsKeys else { return }
    throw Problem(
      node,
      "names a row by its key, which only the export of a whole file tells\(target.primaryKey == nil ? ": \(target.name) has no primary key" : "")."
    )
  }

  private func typedLink(_ node: JSONNode, _ parts: JSONNode, isKey: Bool) throws(Problem) -> LinkDraft {
    guard let pair = parts.array, pair.count == 2, let name = pair[0].string,
      let target = tables.schema(named: name), !target.isEmbedded
    else { throw Problem(node, "links to no table of objects.") }
    if isKey {
      try checkKeys(node, target)
      return LinkDraft(
        table: target.id, target: .oldKey(try Self.unsigned(pair[1])), isTyped: true, shown: node.shown)
    }
    return try link(pair[1], to: target, isTyped: true)
  }

  // MARK: - Values of any type

  /// Reads a value of any type.
  ///
  /// - Parameter level: the number of lists and maps around it.
  private func mixed(_ node: JSONNode, _ level: Int) throws(Problem) -> ValueDraft {
    switch node.content {
    case .null: return .value(.null)
    case .bool(let flag): return .value(.bool(flag))
    case .string(let text): return .value(.string(text))
    case .number(let text):
      if let number = Int64(text) { return .value(.int(number)) }
      guard text.utf8.contains(where: { ".eE".utf8.contains($0) }) else {
        throw Problem(node, "is no whole number of 64 bits.")
      }
      return .value(try Self.plain(node, .double))
    case .array(let elements): return try list(node, elements, level)
    case .object(let members): return try object(node, members, level)
    }
  }

  private func checkLevel(_ node: JSONNode, _ level: Int) throws(Problem) {
    guard level < Value.mostLevels else {
      throw Problem(node, "stands in more than \(Value.mostLevels) lists and maps.")
    }
  }

  private func list(_ node: JSONNode, _ elements: [JSONNode], _ level: Int) throws(Problem) -> ValueDraft {
    try checkLevel(node, level)
    var drafts: [ValueDraft] = []
    for element in elements { drafts.append(try mixed(element, level + 1)) }
    return Self.values(drafts).map { .value(.list($0)) } ?? .list(drafts)
  }

  private func map(
    _ node: JSONNode, _ entries: [(key: String, node: JSONNode)], _ level: Int
  ) throws(Problem) -> ValueDraft {
    try checkLevel(node, level)
    guard Set(entries.map { Array($0.key.utf8) }).count == entries.count else {
      throw Problem(node, "has a key twice.")
    }
    var drafts: [(key: String, value: ValueDraft)] = []
    for entry in entries { drafts.append((key: entry.key, value: try mixed(entry.node, level + 1))) }
    guard let values = Self.values(drafts.map(\.value)) else { return .map(drafts) }
    return .value(.map(ValueMap(entries: zip(drafts.map(\.key), values).map { (key: $0, value: $1) })))
  }

  /// Reads an object of JSON. If its only member has the name of a tag, the tag tells the type of the value; any other
  /// object is a map.
  private func object(_ node: JSONNode, _ members: [JSONMember], _ level: Int) throws(Problem) -> ValueDraft {
    let types: [String: ColumnType] = [
      "$int": .int64, "$float": .float, "$double": .double, "$data": .data, "$date": .date,
      "$objectID": .objectID, "$uuid": .uuid, "$decimal128": .decimal128,
    ]
    guard members.count == 1 else {
      return try map(node, members.map { (key: $0.name, node: $0.value) }, level)
    }
    let (tag, content) = (members[0].name, members[0].value)
    if let type = types[tag] { return .value(try Self.plain(node, type)) }
    switch tag {
    case "$object": return .link(try typedLink(node, content, isKey: false))
    case "$link": return .link(try typedLink(node, content, isKey: true))
    case "$map":
      var entries: [(key: String, node: JSONNode)] = []
      for pair in content.array ?? [] {
        guard let parts = pair.array, parts.count == 2, let key = parts[0].string else {
          throw Problem(pair, "is no pair of a key and a value.")
        }
        entries.append((key: key, node: parts[1]))
      }
      guard content.array != nil else { throw Problem(content, "is no array of pairs.") }
      return try map(node, entries, level)
    default: return try map(node, members.map { (key: $0.name, node: $0.value) }, level)
    }
  }
}
