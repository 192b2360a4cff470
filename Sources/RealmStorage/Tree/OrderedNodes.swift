/// A child of a branch: the least key it may hold, how many entries lie below, and the node.
struct TreeChild {
  /// Empty for the first child of a tree.
  var separator: [UInt8]
  var count: UInt64
  var ref: Ref
}

/// What takes the place of a node of an ordered tree: most often one other, of which no list is made.
enum OrderedNodes {
  case one(TreeChild)
  /// None where the node became empty, several where it split.
  case list([TreeChild])

  /// The one, if it is one.
  var only: TreeChild? {
    switch self {
    case .one(let child): child
    case .list(let children): children.count == 1 ? children[0] : nil
    }
  }

  var all: [TreeChild] {
    switch self {
    case .one(let child): [child]
    case .list(let children): children
    }
  }
}
