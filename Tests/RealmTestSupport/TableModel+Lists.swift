import RealmStorage

/// Changes of the elements of lists.
extension TableModel {
  /// Makes some random changes of one list. Returns a description of the first error, or nil.
  mutating func changeList(_ table: WritableTable, _ generator: inout SeededGenerator) throws -> String? {
    let lists = table.schema.columns.indices.filter {
      table.schema.columns[$0].collection == .list && !table.schema.columns[$0].isCompanion
    }
    guard let victim = victim(&generator), !lists.isEmpty else { return nil }
    let place = lists[generator.below(lists.count)]
    let column = table.schema.columns[place]
    guard var elements = rows[victim]?[column.name]?.elements else { return "row \(victim) has no list" }
    for _ in 0...generator.below(4) {
      let isThere = try change(&elements, ListPlace(table: table, column: place, row: victim), &generator)
      guard isThere else { return "no row \(victim)" }
      guard try table.listCount(place, ofRow: victim) == elements.count else {
        return "\(column.name) of row \(victim) has another count"
      }
      if elements.isEmpty { continue }
      let index = generator.below(elements.count)
      guard try table.element(at: index, ofList: place, ofRow: victim) == elements[index] else {
        return "element \(index) of \(column.name) of row \(victim) is another"
      }
    }
    rows[victim]?[column.name] = .list(elements)
    return nil
  }

  /// Makes the lists and maps of a row so long that they are trees.
  package mutating func growCollections(
    _ table: WritableTable, _ generator: inout SeededGenerator
  ) throws {
    guard let victim = victim(&generator) else { return }
    for (place, column) in table.schema.columns.enumerated() {
      guard let value = rows[victim]?[column.name] else { continue }
      let elements = (0..<700).map { _ in element(column, &generator) }
        .filter { $0 != .null || column.isOptional }
      if column.collection == .list {
        try table.append(elements, toList: place, ofRow: victim)
        rows[victim]?[column.name] = .list((value.elements ?? []) + elements)
      } else if case .map(var map, _) = value {
        for (number, element) in elements.prefix(200).enumerated() {
          map["grown \(number)"] = element
          try table.setValue(element, forKey: "grown \(number)", ofMap: place, ofRow: victim)
        }
        rows[victim]?[column.name] = .map(map)
      }
    }
  }

  private struct ListPlace {
    var table: WritableTable
    var column: Int
    var row: UInt64
  }

  private mutating func change(
    _ elements: inout [Value], _ place: ListPlace, _ generator: inout SeededGenerator
  ) throws -> Bool {
    let (table, list, row) = (place.table, place.column, place.row)
    let column = table.schema.columns[list]
    let index = generator.below(elements.count + 1)
    switch generator.below(10) {
    case 0..<2:
      let value = element(column, &generator)
      elements.insert(value, at: index)
      return try table.insert([value], at: index, ofList: list, ofRow: row)
    case 2:
      let value = element(column, &generator)
      elements.append(value)
      return try table.append([value], toList: list, ofRow: row)
    case 3..<5:
      let values = (0..<generator.below(Self.isShort(column) ? 900 : 40)).map { _ in
        element(column, &generator)
      }
      elements.insert(contentsOf: values, at: index)
      return try table.insert(values, at: index, ofList: list, ofRow: row)
    case _ where index == elements.count: return true
    case 5:
      let value = element(column, &generator)
      elements[index] = value
      return try table.setElement(value, at: index, ofList: list, ofRow: row)
    case 6:
      let range = index..<index + 1 + generator.below(elements.count - index)
      elements.removeSubrange(range)
      return try table.removeElements(range, ofList: list, ofRow: row)
    case 7:
      let other = generator.below(elements.count)
      elements.insert(elements.remove(at: index), at: other)
      return try table.moveElement(from: index, to: other, ofList: list, ofRow: row)
    case 8:
      let other = generator.below(elements.count)
      elements.swapAt(index, other)
      return try table.swapElements(index, other, ofList: list, ofRow: row)
    default:
      for _ in 0..<min(40, elements.count) {
        elements.removeFirst()
        guard try table.removeElements(0..<1, ofList: list, ofRow: row) else { return false }
      }
      return true
    }
  }

  /// Whether values of the column take few bytes, so that long lists of them cost a test little.
  private static func isShort(_ column: Column) -> Bool {
    switch column.type {
    case .string, .data, .mixed: false
    default: true
    }
  }

  /// The first difference between the lists of a row, read element by element, and those of the model; nil if there is
  /// none.
  func listDifference(_ table: Table, _ key: UInt64, _ generator: inout SeededGenerator) throws -> String? {
    for (place, column) in table.schema.columns.enumerated() where column.collection == .list {
      guard let expected = rows[key]?[column.name]?.elements, let list = try table.list(place, ofRow: key)
      else {
        return "row \(key) has no list \(column.name)"
      }
      guard list.count == expected.count, try list.elements() == expected else {
        return "\(column.name) of row \(key) is another"
      }
      if expected.isEmpty { continue }
      let index = generator.below(expected.count)
      let rest = try list.elements(from: index)
      guard try list.element(at: index) == expected[index], !rest.isEmpty,
        expected[index...].prefix(rest.count).elementsEqual(rest),
        try list.firstIndex(where: { $0 == expected[index] }) == expected.firstIndex(of: expected[index])
      else { return "\(column.name) of row \(key) is another, from \(index) on" }
    }
    return nil
  }
}
