/// A mixed value of a cell whose lists and maps a transaction changes where they are: it is written to its cell once, before
/// anything else reads it there.
final class OpenNested {
  let column: Column
  /// The element of the cell's list or map that the value is; nil where it is all of the cell.
  let part: NestedPlace.Step?
  @exclusivity(unchecked) private(set) var value: Value
  /// The cell has another value.
  @exclusivity(unchecked) var isChanged = false
  /// Where the list or map was found that was asked for last.
  @exclusivity(unchecked) private var known: (id: UInt64, path: [Int])?

  init(_ value: Value, _ part: NestedPlace.Step?, of column: Column) {
    self.value = value
    self.part = part
    self.column = column
  }

  /// The positions that lead to the list or map of an id; nil where it is not in the value.
  func path(to id: UInt64) -> [Int]? {
    if let known, known.id == id, value.nested(at: known.path)?.nestedID == id { return known.path }
    guard let path = value.nestedPath(to: id) else { return nil }
    known = (id, path)
    return path
  }

  /// Changes what stands at a path.
  func change<Result>(at path: [Int], _ body: (inout Value) -> Result) -> Result {
    isChanged = true
    return value.change(at: path[...], body)
  }
}
