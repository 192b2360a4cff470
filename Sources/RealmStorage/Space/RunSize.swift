/// The numbers of pages that the nodes of a commit take.
package struct RunSize: Equatable, Sendable {
  /// The pages of all nodes in one run.
  package var whole: Int
  /// The pages of the nodes that stay (leaves, long values), in a run of their own.
  package var staying: Int
  /// The pages of the nodes that the next commit writes anew (branches, the root), in a run of their own.
  package var shortLived: Int
  /// The pages of the longest node.
  package var longest: Int

  package init(whole: Int, staying: Int, shortLived: Int, longest: Int = 1) {
    (self.whole, self.staying, self.shortLived, self.longest) = (whole, staying, shortLived, longest)
  }

  /// Whether the commit is small. A larger commit is worth more than a few pieces.
  var isSmall: Bool { whole <= Self.small }
  private static let small = 64
}

/// The places where the nodes of a commit may stand.
package struct RunPlace: Equatable, Sendable {
  /// The runs of pages to use, best first. The last run has no upper limit, because it is at the end of the file.
  package var candidates: [Range<Int>]
  /// Whether all runs but the last are for one kind of nodes and have the size of these nodes: first the run for nodes
  /// that stay, then the run for short-lived nodes.
  package var isApart = false
}
