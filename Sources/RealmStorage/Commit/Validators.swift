extension NodeValidators {
  /// Every kind of node, and how its content is checked at first touch.
  static let all = NodeValidators([
    (.root, { Catalogue.isValid($0) }),
    (.leaf, { LeafNode.isValid($0) }),
    (.branch, { BranchNode.isValid($0) }),
    (.chunk, { LongValue.isValidChunk($0) }),
    (.keyedBranch, { KeyedBranch.isValid($0) }),
    (.table, { TableRoot.isValid($0) }),
    (.cluster, { ClusterNode.isValid($0) }),
    (.piece, { PieceNode.isValid($0) }),
    (.integerIndex, { IntegerIndexNode.isValid($0) }),
    (.positionBranch, { PositionBranch.isValid($0) }),
    (.chunkBranch, { LongValue.isValidBranch($0) }),
  ])
}
