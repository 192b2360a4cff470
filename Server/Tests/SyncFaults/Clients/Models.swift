import RealmSwift

/// What one client has written. Nobody else changes it.
final class Author: Object {
  @Persisted(primaryKey: true) var id: Int
  /// The number of its last commit.
  @Persisted var last: Int
  /// Each commit adds 1 to it.
  @Persisted var sum: Int
  /// Each commit that adds 1 to the board adds 1 to it, too.
  @Persisted var boards: Int
  /// The numbers of some of its last commits.
  @Persisted var recent: List<Int>
}

/// Is made by one commit, and removed by a later one or not at all.
final class Entry: Object {
  /// The number of the author and that of the commit: `3-20`.
  @Persisted(primaryKey: true) var id: String
  @Persisted var text: String
}

/// What many clients change.
final class Board: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var sum: Int
  @Persisted var text: String

  /// The id of the only one.
  static let only = 1
}
