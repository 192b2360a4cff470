import RealmStorage

/// Changes of lists and maps that stand in mixed values.
extension TableModel {
  /// Makes some random changes of one list or map, which is found by its id. Between these changes, the collections
  /// around it change, too. Returns a description of the first error, or nil.
  mutating func changeNested(_ table: WritableTable, _ generator: inout SeededGenerator) throws -> String? {
    let columns = table.schema.columns.indices.filter { table.schema.columns[$0].type == .mixed }
    var found: (row: UInt64, column: Int, value: Value, path: [Int])?
    for _ in 0..<8 where found == nil {
      guard let victim = victim(&generator), !columns.isEmpty else { return nil }
      let column = columns[generator.below(columns.count)]
      guard let value = try table.value(column, ofRow: victim) else { return "no row \(victim)" }
      let isCell = table.schema.columns[column].isCollection
      let paths = Self.paths(to: value, isCell: isCell)
      if !paths.isEmpty { found = (victim, column, value, paths[generator.below(paths.count)]) }
    }
    guard var found, let id = Self.value(at: found.path[...], in: found.value)?.nestedID else { return nil }
    guard id > 0 else { return "a list or map has no id" }
    let column = table.schema.columns[found.column]
    var place = NestedPlace(column: found.column, row: found.row, id: id)
    if generator.chance(50), let first = found.path.first { place.near = .position(first) }
    for _ in 0...generator.below(4) {
      if column.collection == .list, generator.chance(30) {
        try moveOuter(table, found.column, found.row, &found.path, &generator)
      }
      if let problem = try changeOnce(table, place, column, found.path, &generator) { return problem }
      let expected = rows[found.row]?[column.name].flatMap { Self.value(at: found.path[...], in: $0) }
      guard try table.value(at: place) == expected, expected != nil else {
        return "the list or map \(id) of \(column.name) of row \(found.row) is another"
      }
    }
    return nil
  }

  /// Moves an element of the list that contains the list or map.
  private mutating func moveOuter(
    _ table: WritableTable, _ list: Int, _ row: UInt64, _ path: inout [Int],
    _ generator: inout SeededGenerator
  ) throws {
    let name = table.schema.columns[list].name
    guard var elements = rows[row]?[name]?.elements else { return }
    let (old, new) = (generator.below(elements.count), generator.below(elements.count))
    elements.insert(elements.remove(at: old), at: new)
    rows[row]?[name] = .list(elements)
    try table.moveElement(from: old, to: new, ofList: list, ofRow: row)
    if path[0] == old {
      path[0] = new
    } else {
      let without = path[0] > old ? path[0] - 1 : path[0]
      path[0] = without >= new ? without + 1 : without
    }
  }

  private mutating func changeOnce(
    _ table: WritableTable, _ place: NestedPlace, _ column: Column, _ path: [Int],
    _ generator: inout SeededGenerator
  ) throws -> String? {
    guard let root = rows[place.row]?[column.name], let old = Self.value(at: path[...], in: root) else {
      return "the model has no list or map"
    }
    let new: Value
    switch old {
    case .list(var elements, _):
      guard try change(&elements, table, place, &generator) else { return "no list \(place.id)" }
      new = .list(elements)
    case .map(var map, _):
      let isOld = !map.isEmpty && generator.chance(40)
      let key = isOld ? map.keys[generator.below(map.count)] : "n\(generator.below(5))"
      if generator.chance(30) {
        guard try table.removeValue(forKey: key, of: place) == (map[key] != nil) else {
          return "no key \(key)"
        }
        map[key] = nil
      } else {
        let value = mixed(&generator, levels: 2)
        guard try table.setValue(value, forKey: key, of: place) else { return "no map \(place.id)" }
        map[key] = value
      }
      new = .map(map)
    default: return "the model has another value"
    }
    rows[place.row]?[column.name] = Self.replacing(new, at: path[...], in: root)
    return nil
  }

  private mutating func change(
    _ elements: inout [Value], _ table: WritableTable, _ place: NestedPlace,
    _ generator: inout SeededGenerator
  ) throws -> Bool {
    let index = generator.below(elements.count + 1)
    switch generator.below(6) {
    case 0..<2:
      let values = (0...generator.below(3)).map { _ in mixed(&generator, levels: 2) }
      elements.insert(contentsOf: values, at: index)
      return try table.insert(values, at: index, of: place)
    case _ where index == elements.count: return true
    case 2:
      let value = mixed(&generator, levels: 2)
      elements[index] = value
      return try table.setElement(value, at: index, of: place)
    case 3:
      elements.remove(at: index)
      return try table.removeElements(index..<index + 1, of: place)
    case 4:
      let other = generator.below(elements.count)
      elements.insert(elements.remove(at: index), at: other)
      return try table.moveElement(from: index, to: other, of: place)
    default:
      let other = generator.below(elements.count)
      elements.swapAt(index, other)
      return try table.swapElements(index, other, of: place)
    }
  }

  // MARK: - Paths

  /// The positions that lead to each list and map in a mixed value of a cell.
  private static func paths(to value: Value, isCell: Bool) -> [[Int]] {
    guard let elements = value.elements else { return [] }
    let inner = elements.enumerated().flatMap { index, element in
      paths(to: element, isCell: false).map { [index] + $0 }
    }
    return isCell ? inner : [[]] + inner
  }

  private static func value(at path: ArraySlice<Int>, in value: Value) -> Value? {
    guard let first = path.first else { return value }
    guard let elements = value.elements, elements.indices.contains(first) else { return nil }
    return self.value(at: path.dropFirst(), in: elements[first])
  }

  private static func replacing(_ new: Value, at path: ArraySlice<Int>, in value: Value) -> Value {
    guard let first = path.first else { return new }
    switch value {
    case .list(var elements, let id):
      elements[first] = replacing(new, at: path.dropFirst(), in: elements[first])
      return .list(elements, id: id)
    case .map(var map, let id):
      let key = map.keys[first]
      map[key] = replacing(new, at: path.dropFirst(), in: map.values[first])
      return .map(map, id: id)
    default: return value
    }
  }
}
