import RealmStorage

/// The expected content of a table whose lists have ids of elements, and whose cells link by primary key to rows that
/// may not exist; and random changes of both table and model.
package struct CompanionModel: Equatable, Sendable {
  package static let name = "Linked"
  package static let schema = TableSchema(
    name, hasElementIDs: true,
    columns: [
      Column("id", .int64, index: .unique), Column("link", .link), Column("list", .link, collection: .list),
      Column("set", .link, collection: .set), Column("map", .link, collection: .map),
      Column("any", .mixed, collection: .list), Column("numbers", .int64, collection: .list),
    ])
  private enum Place {
    static let (id, link, list, set, map, any, numbers) = (0, 1, 2, 4, 5, 6, 8)
  }

  /// An element of a list. If no row has the primary key `target`, the element is not seen.
  struct Element: Equatable, Sendable {
    var target: Int64
    var id: UInt64
    var place: UInt64?
  }

  struct Row: Equatable, Sendable {
    var id: Int64
    var link: Int64?
    var lists: [Int: [Element]] = [Place.list: [], Place.any: []]
    var set: Set<Int64> = []
    /// The targets of the keys. A target is nil if the link went with its row.
    var map: [String: Int64?] = [:]
    var numbers: [UInt64] = []
  }

  var rows: [UInt64: Row] = [:]
  /// The id that the next element gets.
  package private(set) var nextElementID: UInt64 = 1 << 32
  /// The next id for an element that gets its id from the test itself, like an element that another device made.
  private var nextForeignID: UInt64 = 2 << 32

  package init() {}

  /// A recorder for a transaction that changes the table.
  package func recorder(takesRowsApart: Bool = false) -> ChangeList {
    ChangeList(takesRowsApart: takesRowsApart, elementIDsFrom: nextElementID)
  }

  private mutating func newID() -> UInt64 {
    nextElementID += 1
    return nextElementID - 1
  }

  private func row(_ target: Int64) -> UInt64? { rows.first { $0.value.id == target }?.key }

  private func isSeen(_ element: Element) -> Bool {
    element.target == Self.null || row(element.target) != nil
  }

  /// The places of the elements of a list that are seen.
  private func seen(_ list: [Element]) -> [Int] { list.indices.filter { isSeen(list[$0]) } }

  private static func value(_ row: UInt64, _ column: Int, _ table: UInt32) -> Value {
    column == Place.any ? .typedLink(table: table, row: row) : .link(row)
  }

  // MARK: - Changes

  /// Makes one random change.
  ///
  /// - Precondition: The transaction has a recorder of this model, or one that gives the same ids.
  package mutating func change(_ table: WritableTable, _ generator: inout SeededGenerator) throws {
    guard rows.count > 2, let row = rows.keys.sorted().randomElement(using: &generator) else {
      return try insert(table, &generator)
    }
    let target = Int64(generator.below(16))
    let column = generator.chance(70) ? Place.list : Place.any
    switch generator.below(20) {
    case 0, 1: try insert(table, &generator)
    case 2:
      try table.remove(row)
      remove(row)
    case 3: try setLink(target, row, table)
    case 4, 5: try insertIntoSet(target, row, table)
    case 6: try setInMap(target, row, table, &generator)
    case 7: try changeNumbers(row, table, &generator)
    case 8, 9: try insertAbsent(target, column, row, table, &generator)
    case 10: try assign(column, row, table, &generator)
    case 11:
      let links = try table.absentLinks(ofColumn: column, ofRow: row)
      guard let gone = links.indices.randomElement(using: &generator) else { return }
      var left = links
      left.remove(at: gone)
      try table.setAbsentLinks(left, ofColumn: column, ofRow: row)
      rows[row]?.lists[column]?.removeAll { $0.id == links[gone].elementID }
    default: try changeList(column, row, table, &generator)
    }
  }

  private mutating func insert(_ table: WritableTable, _ generator: inout SeededGenerator) throws {
    let id = Int64(generator.below(16))
    guard row(id) == nil else { return }
    var made = Row(id: id)
    let others = rows.keys.sorted().filter { _ in generator.chance(30) }
    for other in others { made.lists[Place.list]?.append(Element(target: rows[other]?.id ?? 0, id: newID())) }
    for _ in 0..<generator.below(4) { made.numbers.append(newID()) }
    let key = try table.insert([
      "id": .int(id), "list": .list(others.map { .link($0) }),
      "numbers": .list(made.numbers.map { .int(Int64($0)) }),
    ])
    rows[key] = made
  }

  private mutating func remove(_ row: UInt64) {
    guard let gone = rows.removeValue(forKey: row)?.id else { return }
    for key in rows.keys {
      if rows[key]?.link == gone { rows[key]?.link = nil }
      rows[key]?.lists[Place.list]?.removeAll { $0.target == gone }
      // An element of the mixed list becomes null and loses its target.
      for index in rows[key]?.lists[Place.any]?.indices ?? 0..<0
      where rows[key]?.lists[Place.any]?[index].target == gone {
        rows[key]?.lists[Place.any]?[index].target = Self.null
      }
      rows[key]?.set.remove(gone)
      for (name, target) in rows[key]?.map ?? [:] where target == gone {
        rows[key]?.map.updateValue(nil, forKey: name)
      }
    }
  }

  /// The target of an element that is null. Such an element is seen.
  private static let null = Int64.min

  private mutating func setLink(_ target: Int64, _ row: UInt64, _ table: WritableTable) throws {
    if let found = self.row(target) {
      try table.set(.link(found), Place.link, ofRow: row)
      rows[row]?.link = target
    } else if target % 3 == 0 {
      try table.set(.null, Place.link, ofRow: row)
      rows[row]?.link = nil
    } else {
      try table.setAbsentLinks(
        [AbsentLink(table: table.schema.id, primaryKey: .int(target))], ofColumn: Place.link, ofRow: row)
      rows[row]?.link = target
    }
  }

  private mutating func insertIntoSet(_ target: Int64, _ row: UInt64, _ table: WritableTable) throws {
    if let found = self.row(target) {
      if rows[row]?.set.contains(target) == true, target % 2 == 0 {
        try table.remove(.link(found), fromSet: Place.set, ofRow: row)
        rows[row]?.set.remove(target)
        return
      }
      try table.insert([.link(found)], intoSet: Place.set, ofRow: row)
    } else {
      var links = try table.absentLinks(ofColumn: Place.set, ofRow: row)
      let link = AbsentLink(table: table.schema.id, primaryKey: .int(target), place: .member)
      if !links.contains(link) { links.append(link) }
      try table.setAbsentLinks(links, ofColumn: Place.set, ofRow: row)
    }
    rows[row]?.set.insert(target)
  }

  private mutating func setInMap(
    _ target: Int64, _ row: UInt64, _ table: WritableTable, _ generator: inout SeededGenerator
  ) throws {
    let key = "key \(generator.below(4))"
    if generator.chance(20) {
      try table.removeValue(forKey: key, ofMap: Place.map, ofRow: row)
      rows[row]?.map.removeValue(forKey: key)
    } else if let found = self.row(target) {
      try table.setValue(.link(found), forKey: key, ofMap: Place.map, ofRow: row)
      rows[row]?.map.updateValue(target, forKey: key)
    } else {
      var links = try table.absentLinks(ofColumn: Place.map, ofRow: row)
      links.removeAll { $0.place == .key(key) }
      links.append(AbsentLink(table: table.schema.id, primaryKey: .int(target), place: .key(key)))
      try table.setAbsentLinks(links, ofColumn: Place.map, ofRow: row)
      rows[row]?.map.updateValue(target, forKey: key)
    }
  }

  /// Changes a list of whole numbers. Each number is the id that its element got when it was inserted.
  private mutating func changeNumbers(
    _ row: UInt64, _ table: WritableTable, _ generator: inout SeededGenerator
  ) throws {
    var numbers = rows[row]?.numbers ?? []
    // Now and then there are so many elements that the list is a tree.
    let added = (0..<(generator.below(60) == 0 ? 900 : generator.below(4))).map { _ in newID() }
    let place = generator.below(numbers.count + 1)
    try table.insert(
      added.map { .int(Int64($0)) }, at: place, ofList: Place.numbers, ofRow: row)
    numbers.insert(contentsOf: added, at: place)
    if numbers.count > 3, generator.chance(50) {
      let end = generator.below(numbers.count + 1)
      let range = generator.below(end + 1)..<end
      try table.removeElements(range, ofList: Place.numbers, ofRow: row)
      numbers.removeSubrange(range)
    }
    rows[row]?.numbers = numbers
  }

  private mutating func insertAbsent(
    _ target: Int64, _ column: Int, _ row: UInt64, _ table: WritableTable, _ generator: inout SeededGenerator
  ) throws {
    guard self.row(target) == nil, var list = rows[row]?.lists[column] else { return }
    var links = try table.absentLinks(ofColumn: column, ofRow: row)
    let new = links.isEmpty ? 0 : generator.below(links.count + 1)
    // The position of the new link lies between the positions of its neighbours.
    let position = { (link: AbsentLink) in if case .before(let index) = link.place { index } else { 0 } }
    let seen = seen(list)
    let least = new == 0 ? 0 : position(links[new - 1])
    let most = new == links.count ? seen.count : position(links[new])
    let index = least + generator.below(most - least + 1)
    let id = nextForeignID
    nextForeignID += 1
    links.insert(
      AbsentLink(
        table: table.schema.id, primaryKey: .int(target), place: .before(index), elementID: id), at: new)
    try table.setAbsentLinks(links, ofColumn: column, ofRow: row)
    // The place is behind the seen element before that position, and behind the unseen elements that come first.
    var place = index == 0 ? 0 : seen[index - 1] + 1
    place += links[..<new].count { position($0) == index }
    list.insert(Element(target: target, id: id), at: place)
    rows[row]?.lists[column] = list
  }

  /// Assigns a list as a whole.
  private mutating func assign(
    _ column: Int, _ row: UInt64, _ table: WritableTable, _ generator: inout SeededGenerator
  ) throws {
    guard let list = rows[row]?.lists[column] else { return }
    let seen = seen(list)
    var new = seen.map { list[$0].target }
    if generator.chance(20) { new = [] }
    if !new.isEmpty, generator.chance(50) { new.remove(at: generator.below(new.count)) }
    if let other = rows.values.map(\.id).sorted().randomElement(using: &generator), generator.chance(70) {
      new.insert(other, at: generator.below(new.count + 1))
    }
    let values = new.map { target in
      self.row(target).map { Self.value($0, column, table.schema.id) } ?? .null
    }
    try table.set(.list(values), column, ofRow: row)
    let old = seen.map { list[$0].target }
    guard old != new || new.isEmpty else { return }
    if new.isEmpty {
      rows[row]?.lists[column] = []
    } else if seen.count == list.count {
      let made = new.map { Element(target: $0, id: newID()) }
      rows[row]?.lists[column] = made
    } else {
      let start = zip(old, new).prefix { $0 == $1 }.count
      let end = min(
        zip(old.reversed(), new.reversed()).prefix { $0 == $1 }.count, min(old.count, new.count) - start)
      let gone = Set(seen[start..<old.count - end])
      var made = list.indices.filter { !gone.contains($0) }.map { list[$0] }
      let added = new[start..<new.count - end].map { Element(target: $0, id: newID()) }
      made.insert(contentsOf: added, at: insertionPlace(start, made))
      rows[row]?.lists[column] = made
    }
  }

  /// The place for an element that is inserted before the seen element `index`, or at the end. Unseen elements before
  /// that seen element stay before the new one.
  private func insertionPlace(_ index: Int, _ list: [Element]) -> Int {
    let seen = seen(list)
    return index < seen.count ? seen[index] : list.count
  }

  private mutating func changeList(
    _ column: Int, _ row: UInt64, _ table: WritableTable, _ generator: inout SeededGenerator
  ) throws {
    guard var list = rows[row]?.lists[column] else { return }
    defer { rows[row]?.lists[column] = list }
    let seen = seen(list)
    let some = rows.keys.sorted()
    func target() -> (Int64, Value) {
      let row = some[generator.below(some.count)]
      return (rows[row]?.id ?? 0, Self.value(row, column, table.schema.id))
    }
    guard !seen.isEmpty, generator.chance(75) else {
      let index = generator.below(seen.count + 1)
      let (first, second) = (target(), target())
      let isOne = generator.chance(50)
      let added = isOne ? [first] : [first, second]
      try table.insert(added.map(\.1), at: index, ofList: column, ofRow: row)
      list.insert(
        contentsOf: added.map { Element(target: $0.0, id: newID()) }, at: insertionPlace(index, list))
      return
    }
    let index = generator.below(seen.count)
    switch generator.below(5) {
    case 0:
      let end = min(seen.count, index + 1 + generator.below(3))
      try table.removeElements(index..<end, ofList: column, ofRow: row)
      for place in seen[index..<end].reversed() { list.remove(at: place) }
    case 1:
      let (target, value) = target()
      try table.setElement(value, at: index, ofList: column, ofRow: row)
      list[seen[index]].target = target
    case 2:
      let new = generator.below(seen.count)
      try table.moveElement(from: index, to: new, ofList: column, ofRow: row)
      guard new != index else { return }
      var moved = list.remove(at: seen[index])
      moved.place = newID()
      list.insert(moved, at: insertionPlace(new, list))
    case 3:
      let other = generator.below(seen.count)
      try table.swapElements(index, other, ofList: column, ofRow: row)
      guard other != index, list[seen[index]].target != list[seen[other]].target else { return }
      list.swapAt(seen[index], seen[other])
      list[seen[min(index, other)]].place = newID()
      list[seen[max(index, other)]].place = newID()
    default:
      // The first element is moved to the end.
      guard seen.count > 1 else { return }
      let order = Array(1..<seen.count) + [0]
      try table.reorderElements(order, ofList: column, ofRow: row)
      let elements = seen.map { list[$0] }
      for (place, source) in zip(seen, order) { list[place] = elements[source] }
      // If there are two elements, either of them could be the one that is moved.
      list[seen[seen.count == 2 ? 0 : seen.count - 1]].place = newID()
    }
  }

  // MARK: - Comparison

  /// The content of a row in the form in which it is read.
  private struct Seen: Equatable, CustomStringConvertible {
    var key: UInt64
    var id: Value
    var columns: [Column] = []

    struct Column: Equatable {
      var value: Value
      var absent: [AbsentLink]
      var ids: [UInt64]?
      var places: [UInt64?]?
    }

    var description: String {
      let parts = columns.map { "\($0.value) \($0.absent) \($0.ids ?? []) \($0.places ?? [])" }
      return "row \(key), \(id): " + parts.joined(separator: "; ")
    }
  }

  private func seen(_ key: UInt64, _ row: Row, table: UInt32) -> Seen {
    let link = row.link.flatMap { self.row($0) }
    let waiting = { (target: Int64, place: AbsentLink.Place) in
      AbsentLink(table: table, primaryKey: .int(target), place: place)
    }
    var seen = Seen(key: key, id: .int(row.id))
    seen.columns.append(
      .init(
        value: link.map { .link($0) } ?? .null,
        absent: link == nil ? row.link.map { [waiting($0, .value)] } ?? [] : []))
    for column in [Place.list, Place.any] { seen.columns.append(self.column(column, row, table)) }
    let members = row.set.compactMap { self.row($0) }.sorted().map { Value.link($0) }
    let others = row.set.filter { self.row($0) == nil }.sorted().map { waiting($0, .member) }
    seen.columns.append(.init(value: .list(members), absent: others))
    var (map, absent): ([String: Value], [AbsentLink]) = ([:], [])
    for (name, target) in row.map.sorted(by: { $0.key < $1.key }) {
      if let target, self.row(target) == nil {
        absent.append(waiting(target, .key(name)))
      } else {
        map[name] = target.flatMap { self.row($0) }.map { .link($0) } ?? .null
      }
    }
    seen.columns.append(.init(value: .map(ValueMap(map)), absent: absent))
    let numbers = row.numbers
    seen.columns.append(
      .init(
        value: .list(numbers.map { .int(Int64($0)) }), absent: [], ids: numbers,
        places: numbers.map { _ in nil }))
    return seen
  }

  private func column(_ column: Int, _ row: Row, _ table: UInt32) -> Seen.Column {
    let list = row.lists[column] ?? []
    var found = Seen.Column(value: .null, absent: [], ids: [], places: [])
    var values: [Value] = []
    for element in list {
      if isSeen(element) {
        values.append(self.row(element.target).map { Self.value($0, column, table) } ?? .null)
        found.ids?.append(element.id)
        found.places?.append(element.place)
      } else {
        found.absent.append(
          AbsentLink(
            table: table, primaryKey: .int(element.target), place: .before(values.count),
            elementID: element.id, elementPlace: element.place ?? 0))
      }
    }
    found.value = .list(values)
    return found
  }

  private static func seen(_ key: UInt64, in table: Table) throws(StorageError) -> Seen {
    var seen = Seen(key: key, id: try table.value(table.schema.columns[Place.id], ofRow: key) ?? .null)
    for column in [Place.link, Place.list, Place.any, Place.set, Place.map, Place.numbers] {
      let value = try table.value(table.schema.columns[column], ofRow: key) ?? .null
      var links = try table.absentLinks(ofColumn: column, ofRow: key)
      // The links of sets and maps have no order, so they are sorted here.
      if column == Place.set || column == Place.map {
        links.sort { "\($0.place) \(padded($0))" < "\($1.place) \(padded($1))" }
      }
      var found = Seen.Column(value: value, absent: links)
      if [Place.list, Place.any, Place.numbers].contains(column) {
        found.ids = try table.elementIDs(ofList: column, ofRow: key)
        found.places = try table.elementPlaces(ofList: column, ofRow: key)
        if found.places == [] { found.places = found.ids?.map { _ in nil } }
      }
      seen.columns.append(found)
    }
    return seen
  }

  /// The primary key of a link as a text, so that texts have the order of the numbers.
  private static func padded(_ link: AbsentLink) -> String {
    guard case .int(let number) = link.primaryKey else { return "" }
    return String(1_000 + number)
  }

  /// The first difference between the table and the model, or nil.
  package func difference(to table: Table) throws -> String? {
    guard table.count == rows.count else { return "\(table.count) rows, not \(rows.count)" }
    for (key, row) in rows.sorted(by: { $0.key < $1.key }) {
      let (expected, found) = (seen(key, row, table: table.schema.id), try Self.seen(key, in: table))
      guard found == expected else { return "found \(found); expected \(expected)" }
    }
    return nil
  }

  package func addTo(_ hash: inout Fingerprint, table: UInt32) {
    for (key, row) in rows.sorted(by: { $0.key < $1.key }) {
      hash.add(Array(seen(key, row, table: table).description.utf8))
    }
  }

  package static func add(_ table: Table, to hash: inout Fingerprint) throws(StorageError) {
    for position in 0..<table.count {
      hash.add(Array(try seen(table.key(at: position), in: table).description.utf8))
    }
  }
}
