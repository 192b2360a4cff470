extension NodeValidators {
  /// Every kind of node, and how its content is checked at first touch.
  static let all = NodeValidators([
    (.root, { Catalogue.isValid($0) }),
    (.leaf, { LeafNode.isValid($0) }),
    (.branch, { BranchNode.isValid($0) }),
    (.chunk, { LongValue.isValidChunk($0) }),
    (.chunkBranch, { LongValue.isValidBranch($0) }),
  ])
}
