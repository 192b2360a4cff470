/// Pages that the nodes of a commit take.
package struct RunSize: Equatable, Sendable {
  /// In one run.
  package var whole: Int
  /// Of nodes that stay (leaves, long values), in a run of their own.
  package var staying: Int
  /// Of nodes that the next commit writes anew (branches, the root), in a run of their own.
  package var shortLived: Int

  package init(whole: Int, staying: Int, shortLived: Int) {
    (self.whole, self.staying, self.shortLived) = (whole, staying, shortLived)
  }

  /// What is larger is worth more pieces than a few.
  var isSmall: Bool { whole <= Self.small }
  static let small = 64
}

/// Where the nodes of a commit may stand.
package struct RunPlace: Equatable, Sendable {
  /// Best first; the last one is open to the end of the file.
  package var candidates: [Range<Int>]
  /// The first two are of a size for the nodes that stay, and for those that do not.
  package var isApart = false
}
