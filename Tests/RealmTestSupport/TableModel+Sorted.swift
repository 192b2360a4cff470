import RealmStorage

/// Changes of the elements of sets and of the entries of maps.
extension TableModel {
  /// Makes some random changes of one set or map. Returns a description of the first error, or nil.
  mutating func changeSorted(_ table: WritableTable, _ generator: inout SeededGenerator) throws -> String? {
    let columns = table.schema.columns.indices.filter {
      [.set, .map].contains(table.schema.columns[$0].collection)
    }
    guard let victim = victim(&generator), !columns.isEmpty else { return nil }
    let place = columns[generator.below(columns.count)]
    let column = table.schema.columns[place]
    guard var value = rows[victim]?[column.name] else { return "row \(victim) has no \(column.name)" }
    for _ in 0...generator.below(4) {
      let many = generator.chance(10) ? 300 : 6
      let isRight: Bool
      if column.collection == .set {
        isRight = try changeSet(&value, generator.below(many), table, place, victim, &generator)
      } else {
        isRight = try changeMap(&value, generator.below(many), table, place, victim, &generator)
      }
      guard isRight, try table.sortedCount(place, ofRow: victim) == value.elements?.count else {
        return "\(column.name) of row \(victim) was changed in another way"
      }
    }
    rows[victim]?[column.name] = value
    return nil
  }

  private func changeSet(
    _ value: inout Value, _ count: Int, _ table: WritableTable, _ place: Int, _ row: UInt64,
    _ generator: inout SeededGenerator
  ) throws -> Bool {
    let column = table.schema.columns[place]
    var elements = value.elements ?? []
    defer { value = .list(elements) }
    if generator.chance(40), !elements.isEmpty {
      for _ in 0..<min(count, elements.count) {
        let removed = elements.remove(at: generator.below(elements.count))
        guard try table.remove(removed, fromSet: place, ofRow: row) == true,
          try table.contains(removed, inSet: place, ofRow: row) == false
        else { return false }
      }
      return true
    }
    let added = (0..<count).map { _ in element(column, &generator) }
      .filter { $0.elements == nil && ($0 != .null || column.isOptional) }
    let before = elements.count
    elements = Value.set(elements + added).elements ?? []
    guard try table.insert(added, intoSet: place, ofRow: row) == elements.count - before else { return false }
    guard let some = added.first,
      let index = elements.firstIndex(where: { SetElement($0) == SetElement(some) })
    else { return true }
    return try table.position(of: some, inSet: place, ofRow: row) == index
      && table.element(at: index, ofSorted: place, ofRow: row) == elements[index]
  }

  private func changeMap(
    _ value: inout Value, _ count: Int, _ table: WritableTable, _ place: Int, _ row: UInt64,
    _ generator: inout SeededGenerator
  ) throws -> Bool {
    guard case .map(var map, _) = value else { return false }
    defer { value = .map(map) }
    for _ in 0..<count {
      // Equivalent texts are different keys, and some texts are longer than the keys of a tree can be.
      let isLong = generator.chance(2)
      let key =
        "\(generator.below(2000))é\(isLong ? String(repeating: "k", count: 1200) : "")\(generator.below(3))"
      if generator.chance(30) {
        let wasThere = map[key] != nil
        map[key] = nil
        guard try table.removeValue(forKey: key, ofMap: place, ofRow: row) == wasThere else { return false }
      } else {
        let element = element(table.schema.columns[place], &generator)
        guard element != .null || table.schema.columns[place].isOptional else { continue }
        map[key] = element
        guard try table.setValue(element, forKey: key, ofMap: place, ofRow: row) else { return false }
      }
      guard try table.value(forKey: key, ofMap: place, ofRow: row) == map[key] else { return false }
    }
    return true
  }

  /// The first difference between the sets and maps of a row, read entry by entry, and those of the model; nil if there
  /// is none.
  func sortedDifference(_ table: Table, _ key: UInt64, _ generator: inout SeededGenerator) throws -> String? {
    for (place, column) in table.schema.columns.enumerated()
    where column.collection == .set || column.collection == .map {
      guard let expected = rows[key]?[column.name], let elements = expected.elements,
        let found = try table.sorted(place, ofRow: key)
      else { return "row \(key) has no \(column.name)" }
      guard found.count == elements.count, try found.all() == expected else {
        return "\(column.name) of row \(key) is another"
      }
      if elements.isEmpty { continue }
      let index = generator.below(elements.count)
      var isRight = try found.element(at: index) == elements[index]
      if case .map(let map, _) = expected {
        isRight = try isRight && found.value(forKey: map.keys[index]) == elements[index]
      } else {
        isRight =
          try isRight && found.contains(elements[index]) && found.position(of: elements[index]) == index
      }
      if !isRight { return "\(column.name) of row \(key) is another, at \(index)" }
    }
    return nil
  }
}
