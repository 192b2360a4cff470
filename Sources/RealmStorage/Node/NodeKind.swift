/// The kind of a node's content. The numbers are stored on disk and must never change.
///
/// This folder knows of a kind only whether most commits rewrite its nodes. The folders that define the layouts of
/// nodes register the checks of their content (`NodeValidators`).
package enum NodeKind: UInt8, Sendable, CaseIterable {
  /// The catalogue: the node that a version starts from.
  case root = 1
  /// Keys and values in order: a leaf of an ordered tree.
  case leaf = 2
  /// Children of an ordered tree, with separators and counts.
  case branch = 3
  /// Bytes of a long value.
  case chunk = 4
  /// Children of a long value, with the bytes below each.
  case chunkBranch = 5
  /// Children of a tree with whole numbers as keys, with the number of rows below each.
  case keyedBranch = 6
  /// The node that a table starts from.
  case table = 7
  /// Rows of a table: their fixed-size columns, and the refs of the pieces of the others.
  case cluster = 8
  /// Values of varying size of one column, for some rows of a cluster.
  case piece = 9
  /// Numbers in order, and the row of each number: a leaf of the index of a primary key.
  case integerIndex = 10
  /// Children of a tree by position, with the number of elements below each.
  case positionBranch = 11

  /// True for kinds on the path that nearly every commit writes anew. These nodes are placed apart from those that
  /// stay.
  package var isShortLived: Bool {
    switch self {
    case .root, .branch, .keyedBranch, .positionBranch, .table: true
    case .leaf, .chunk, .chunkBranch, .cluster, .piece, .integerIndex: false
    }
  }

  package var name: String {
    switch self {
    case .root: "root"
    case .leaf: "leaf"
    case .branch: "branch"
    case .chunk: "chunk"
    case .chunkBranch: "chunk branch"
    case .keyedBranch: "keyed branch"
    case .table: "table"
    case .cluster: "cluster"
    case .piece: "piece"
    case .integerIndex: "integer index"
    case .positionBranch: "position branch"
    }
  }
}

/// The checks of a node's content, by kind. A check runs once, when a process first touches the node, so that reads
/// need not check.
///
/// A validator returns true if a forged node could break nothing: all counts, offsets and ends are within the node. It
/// need not know what the node means.
package struct NodeValidators: Sendable {
  package typealias Validator = @Sendable (NodeView) -> Bool
  private var validators: [Validator?]

  package init(_ list: [(NodeKind, Validator)]) {
    validators = Array(repeating: nil, count: 256)
    for (kind, validator) in list { validators[Int(kind.rawValue)] = validator }
  }

  func isValid(_ view: NodeView, kind: UInt8) -> Bool {
    guard let validator = validators[Int(kind)] else { return false }
    return validator(view)
  }
}
