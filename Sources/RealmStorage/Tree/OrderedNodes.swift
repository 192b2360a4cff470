/// A child of a branch: the least key that it may hold, the number of entries below it, and the ref of its node.
struct TreeChild {
  /// The separator is empty for the first child of a tree.
  var separator: [UInt8]
  var count: UInt64
  var ref: Ref
}

/// The nodes that take the place of a node of an ordered tree. Most often it is one node, so that case needs no list.
enum OrderedNodes {
  case one(TreeChild)
  /// No nodes if the node became empty, several if it split.
  case list([TreeChild])

  /// The node, if it is the only one; else nil.
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
