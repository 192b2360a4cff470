/// Pages that the nodes of a commit take.
package struct RunSize: Equatable, Sendable {
  /// In one run.
  package var whole: Int
  /// Of nodes that stay (leaves, long values), in a run of their own.
  package var staying: Int
  /// Of nodes that the next commit writes anew (branches, the root), in a run of their own.
  package var shortLived: Int
  /// Of the longest node.
  package var longest: Int

  package init(whole: Int, staying: Int, shortLived: Int, longest: Int = 1) {
    (self.whole, self.staying, self.shortLived, self.longest) = (whole, staying, shortLived, longest)
  }

  /// What is larger is worth more pieces than a few.
  var isSmall: Bool { whole <= Self.small }
  private static let small = 64
}

/// Where the nodes of a commit may stand.
package struct RunPlace: Equatable, Sendable {
  /// Best first; the last one is open to the end of the file.
  package var candidates: [Range<Int>]
  /// All but the last are for nodes of one kind, and of their size: those that stay first, then those that do not.
  package var isApart = false
}
