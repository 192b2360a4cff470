/// Follows steps into a collection or a mixed value, and along the links in it.
struct InnerWalk {
  private let steps: [ValuePath.InnerStep]
  private let tables: any TableFinder
  /// The place of the last step to several values; nil if there is none. The values of each collection that this step
  /// enters are a group.
  private let last: Int?
  /// The table to which the column's links lead; 0 for other columns, whose links name their tables.
  private let target: UInt32

  init(_ steps: [ValuePath.InnerStep], of column: Column, _ tables: any TableFinder) {
    self.steps = steps
    self.tables = tables
    target = column.type == .link ? column.target : 0
    last = steps.lastIndex(where: \.isMany)
  }

  var isMany: Bool { last != nil }

  /// The links that were followed at each step. A link that occurs again leads to the same values, in groups of their
  /// own.
  private struct Followed {
    private struct Link: Hashable {
      let place: Int
      let table: UInt32
      let row: UInt64
    }

    private var links: Set<Link> = []

    /// Adds a link, and returns whether it was not there yet.
    mutating func insert(_ place: Int, _ table: UInt32, _ row: UInt64) -> Bool {
      links.insert(Link(place: place, table: table, row: row)).inserted
    }
  }

  /// Adds the values to which the steps lead.
  ///
  /// - Parameter ways: the number of ways that lead to the value.
  func append(
    _ value: Value, ways: Int, _ grouping: BoundValuePath.Grouping, _ check: WalkCheck,
    _ access: borrowing NodeAccess, to groups: inout Groups
  ) throws(StorageError) {
    let before = groups.count
    // Links are not remembered if the groups need each way. If only one step leads to several values, no link comes
    // again.
    var followed = groups.kind == .each && steps.count(where: \.isMany) > 1 ? Followed() : nil
    try append(value, target, from: 0, ways, grouping, check, access, &followed, to: &groups)
    // If a step leads nowhere, there are no values, which makes an empty group.
    if isMany, grouping != .together, groups.count == before { groups.endGroup() }
  }

  /// - Parameter target: the table to which a link in the value leads, if the link does not name it.
  private func append(
    _ value: Value, _ target: UInt32, from place: Int, _ ways: Int, _ grouping: BoundValuePath.Grouping,
    _ check: WalkCheck, _ access: borrowing NodeAccess, _ followed: inout Followed?, to groups: inout Groups
  ) throws(StorageError) {
    try check.next(access)
    guard place < steps.count else {
      if self.target == 0, case .link(let row) = value {
        groups.append(.typedLink(table: target, row: row), ways: ways)
      } else {
        groups.append(value, ways: ways)
      }
      if !isMany, grouping == .one { groups.endGroup() }
      return
    }
    // Repeated links are left out only up to the last step to several values, because each value behind it belongs to
    // its group.
    if let last, place <= last {
      switch value {
      case .link(let row): if followed?.insert(place, target, row) == false { return }
      case .typedLink(let table, let row): if followed?.insert(place, table, row) == false { return }
      default: break
      }
    }
    var target = target
    let next = try found(steps[place], in: value, &target, access)
    for value in next ?? [] {
      try append(value, target, from: place + 1, ways, grouping, check, access, &followed, to: &groups)
    }
    if place == last, grouping != .together, next != nil { groups.endGroup() }
  }

  /// The values to which a step leads from a value; nil if it leads nowhere.
  private func found(
    _ step: ValuePath.InnerStep, in value: Value, _ target: inout UInt32, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Value]? {
    switch (step, value) {
    case (.index(let index), .list(let elements, _)):
      if elements.indices.contains(index) { return [elements[index]] }
      if index < 0 { return nil }
      // An index behind the last value leads to null. In a list of links, and in an empty list, it leads nowhere.
      return elements.isEmpty || target != 0 ? nil : [.null]
    case (.first, .list(let elements, _)): return elements.first.map { [$0] }
    case (.last, .list(let elements, _)): return elements.last.map { [$0] }
    case (.key(let key), .map(let map, _)):
      if let value = map[key] { return [value] }
      return map.values.isEmpty ? nil : [.null]
    case (.key(let name), .typedLink(let table, let row)):
      return try property(name, ofRow: row, in: table, &target, access)
    case (.key(let name), .link(let row)):
      return try property(name, ofRow: row, in: target, &target, access)
    // A null link in a column of links leads to null.
    case (.key, .null) where target != 0: return [.null]
    case (.all, .list(let elements, _)): return elements
    case (.all, .map(let map, _)): return map.values
    case (.keys, .map(let map, _)): return map.keys.map { .string($0) }
    default: return nil
    }
  }

  private func property(
    _ name: String, ofRow row: UInt64, in table: UInt32, _ target: inout UInt32,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Value]? {
    let form = try tables.form(ofTable: table)
    guard let column = form.schema.column(name) else { return nil }
    target = column.type == .link ? column.target : 0
    return try TableReading.value(column, ofRow: row, in: form.root, access).map { [$0] }
  }
}

extension ValuePath.InnerStep {
  fileprivate var isMany: Bool { self == .all || self == .keys }
}
