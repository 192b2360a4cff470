/// What a node holds. Stored on disk, never renumber.
///
/// This floor knows of a kind only whether its nodes are rewritten by most commits; the floors that lay the nodes out
/// register how to check them (`NodeValidators`).
package enum NodeKind: UInt8, Sendable, CaseIterable {
  /// The catalogue: the node a version starts from.
  case root = 1
  /// Keys and values in order: a leaf of an ordered tree.
  case leaf = 2
  /// Children of an ordered tree, with separators and counts.
  case branch = 3
  /// Bytes of a long value.
  case chunk = 4
  /// Children of a long value, with the bytes below each.
  case chunkBranch = 5

  /// Nodes on the path that nearly every commit writes anew stand apart from those that stay.
  package var isShortLived: Bool {
    switch self {
    case .root, .branch: true
    case .leaf, .chunk, .chunkBranch: false
    }
  }

  package var name: String {
    switch self {
    case .root: "root"
    case .leaf: "leaf"
    case .branch: "branch"
    case .chunk: "chunk"
    case .chunkBranch: "chunk branch"
    }
  }
}

/// Checks of a node's content by kind, run once when a process first touches the node, so that reads need not.
///
/// A validator answers whether all that a forged node could break holds: counts, offsets and ends within the node.
/// It need not know what the node means.
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
