/// Collections that are trees.
extension ClusterNode {
  /// The collections of a column that are trees.
  func trees(_ descriptor: Descriptor) -> [CollectionTree] {
    var trees: [CollectionTree] = []
    for (row, ref) in pieces(descriptor) { trees.append(CollectionTree(row: row, ref: ref)) }
    return trees
  }

  /// The descriptor of the trees of a column of collections; nil if none of its collections is a tree.
  func trees(of column: UInt16) -> Descriptor? { find(column, .trees, or: .trees) }

  /// The place among the node's refs of the tree of a row's collection; nil if the collection is not a tree.
  func placeOfTree(_ descriptor: Descriptor, _ row: Int) -> Int? {
    var (low, high) = (0, Int(descriptor.greatest))
    while low < high {
      let middle = (low + high) / 2
      if firstRow(descriptor, middle) < row { low = middle + 1 } else { high = middle }
    }
    guard low < Int(descriptor.greatest), firstRow(descriptor, low) == row else { return nil }
    return Int(descriptor.least) + low
  }

  /// The tree of a row's collection; nil if the collection is not a tree.
  @inline(never)
  func tree(of column: UInt16, _ row: Int) -> Ref? {
    guard let descriptor = trees(of: column), let place = placeOfTree(descriptor, row) else { return nil }
    return view.ref(place)
  }
}
