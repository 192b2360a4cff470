/// A mixed value of a cell whose lists and maps a transaction changes in place. The value is written to its cell once,
/// before anything else reads it there.
final class OpenNested {
  let column: Column
  /// The element of the cell's list or map that is the value; nil if the value is the whole content of the cell.
  let part: NestedPlace.Step?
  @exclusivity(unchecked) private(set) var value: Value
  /// Whether the value was changed since the cell was written.
  @exclusivity(unchecked) var isChanged = false
  /// The paths at which lists and maps were found, by their ids. A path is wrong if something before it was inserted or
  /// removed since then.
  @exclusivity(unchecked) private var paths: [UInt64: [Int]] = [:]

  init(_ value: Value, _ part: NestedPlace.Step?, of column: Column) {
    self.value = value
    self.part = part
    self.column = column
  }

  /// The positions that lead to the list or map with an id; nil if the value does not have it.
  func path(to id: UInt64) -> [Int]? {
    if let path = paths[id], value.nested(at: path)?.nestedID == id { return path }
    // A program that changes one list or map often changes its neighbours next, so the paths of all are noted.
    paths = [:]
    value.forEachNested { paths[$0] = $1 }
    return paths[id]
  }

  /// Notes the paths of the lists and maps in a value that was put at a path. Their ids are new, so nobody asked for
  /// them yet.
  func note(_ added: Value, at path: [Int]) { added.forEachNested(path) { paths[$0] = $1 } }

  /// Changes the value at a path.
  func change<Result>(at path: [Int], _ body: (inout Value) -> Result) -> Result {
    isChanged = true
    return value.change(at: path[...], body)
  }
}
