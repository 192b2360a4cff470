/// Nodes on disk, and the pages they were written to.
struct WrittenNodes {
  /// As they were named in the arena, children before parents.
  var nodes: [Ref] = []
  /// What names each in the file.
  var refs: [Ref] = []
  var pieces: [Range<Int>] = []
  /// The first unit of each, and how many it takes.
  var units: [UInt64] = []
  var sizes: [RunLayout.Size] = []

  var bytes: Int { pieces.reduce(0) { $0 + $1.count * FilePlace.page } }
  /// The page after the last one written.
  var end: Int { pieces.reduce(0) { max($0, $1.upperBound) } }
}
