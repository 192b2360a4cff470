/// Nodes that were written to the file, and the pages that hold them.
struct WrittenNodes {
  /// The refs of the nodes in the arena, children before parents.
  var nodes: [Ref] = []
  /// The ref of each node in the file.
  var refs: [Ref] = []
  var pieces: [Range<Int>] = []
  /// The first unit of each node. The number of its units is in `sizes`.
  var units: [UInt64] = []
  var sizes: [RunLayout.Size] = []

  var bytes: Int { pieces.reduce(0) { $0 + $1.count * FilePlace.page } }
  /// The page after the last one written.
  var end: Int { pieces.reduce(0) { max($0, $1.upperBound) } }
}
