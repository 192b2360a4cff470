/// Goes into a collection or a mixed value, and along the links that stand in it.
struct InnerWalk {
  private let steps: [ValuePath.InnerStep]
  private let tables: any TableFinder
  /// The place of the last step to several values; nil where there is none. The values of each collection that it is in are a group.
  private let last: Int?

  init(_ steps: [ValuePath.InnerStep], _ tables: any TableFinder) {
    self.steps = steps
    self.tables = tables
    last = steps.lastIndex { $0 == .all || $0 == .keys }
  }

  var isMany: Bool { last != nil }

  /// Adds what the steps lead to.
  func append(
    _ value: Value, _ grouping: BoundValuePath.Grouping, _ access: borrowing NodeAccess,
    to groups: inout Groups
  ) throws(StorageError) {
    try append(value, from: 0, grouping, access, to: &groups)
  }

  private func append(
    _ value: Value, from place: Int, _ grouping: BoundValuePath.Grouping, _ access: borrowing NodeAccess,
    to groups: inout Groups
  ) throws(StorageError) {
    guard place < steps.count else {
      groups.append(value)
      if !isMany, grouping == .one { groups.endGroup() }
      return
    }
    let next = try found(steps[place], in: value, access)
    for value in next ?? [] { try append(value, from: place + 1, grouping, access, to: &groups) }
    if place == last, grouping != .together, next != nil { groups.endGroup() }
  }

  /// Nil where a step has no meaning.
  private func found(
    _ step: ValuePath.InnerStep, in value: Value, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Value]? {
    switch (step, value) {
    case (.index(let index), .list(let elements, _)):
      if elements.indices.contains(index) { return [elements[index]] }
      return elements.isEmpty ? nil : [.null]
    case (.first, .list(let elements, _)): return elements.first.map { [$0] }
    case (.last, .list(let elements, _)): return elements.last.map { [$0] }
    case (.key(let key), .map(let map, _)):
      if let value = map[key] { return [value] }
      return map.values.isEmpty ? nil : [.null]
    case (.key(let name), .typedLink(let table, let row)):
      let form = try tables.form(ofTable: table)
      guard let column = form.schema.column(name) else { return nil }
      return try TableReading.value(column, ofRow: row, in: form.root, access).map { [$0] }
    case (.all, .list(let elements, _)): return elements
    case (.all, .map(let map, _)): return map.values
    case (.keys, .map(let map, _)): return map.keys.map { .string($0) }
    default: return nil
    }
  }
}
