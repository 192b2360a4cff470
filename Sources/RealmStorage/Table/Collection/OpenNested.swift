/// A mixed value of a cell whose lists and maps a transaction changes where they are: it is written to its cell once, before
/// anything else reads it there.
final class OpenNested {
  let column: Column
  /// The element of the cell's list or map that the value is; nil where it is all of the cell.
  let part: NestedPlace.Step?
  @exclusivity(unchecked) private(set) var value: Value
  /// The cell has another value.
  @exclusivity(unchecked) var isChanged = false
  /// Where lists and maps were found. A path is wrong where something before it came or went since.
  @exclusivity(unchecked) private var paths: [UInt64: [Int]] = [:]

  init(_ value: Value, _ part: NestedPlace.Step?, of column: Column) {
    self.value = value
    self.part = part
    self.column = column
  }

  /// The positions that lead to the list or map of an id; nil where it is not in the value.
  func path(to id: UInt64) -> [Int]? {
    if let path = paths[id], value.nested(at: path)?.nestedID == id { return path }
    // Who changes one most often changes those beside it next.
    paths = [:]
    value.forEachNested { paths[$0] = $1 }
    return paths[id]
  }

  /// A value was put to a place: its lists and maps, which nobody asked for yet, are found there.
  func note(_ added: Value, at path: [Int]) { added.forEachNested(path) { paths[$0] = $1 } }

  /// Changes what stands at a path.
  func change<Result>(at path: [Int], _ body: (inout Value) -> Result) -> Result {
    isChanged = true
    return value.change(at: path[...], body)
  }
}
