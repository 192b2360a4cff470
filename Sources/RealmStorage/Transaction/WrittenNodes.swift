/// Nodes on disk, and the pages they were written to.
struct WrittenNodes {
  /// As they were named in the arena, children before parents.
  var nodes: [Ref] = []
  /// What names each in the file.
  var refs: [Ref] = []
  var pieces: [Range<Int>] = []
  var claims: [(unit: Int, units: Int)] = []

  var bytes: Int { pieces.reduce(0) { $0 + $1.count * FilePlace.page } }
  /// The page after the last one written.
  var end: Int { pieces.map { $0.upperBound }.max() ?? 0 }
}
