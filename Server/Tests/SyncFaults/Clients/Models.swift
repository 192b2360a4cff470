import RealmSwift

/// The object of one client, which no other client changes.
final class Author: Object {
  @Persisted(primaryKey: true) var id: Int
  /// The number of the client's last commit.
  @Persisted var last: Int
  /// The number of commits. Each commit adds 1.
  @Persisted var sum: Int
  /// The number of commits that added 1 to the board.
  @Persisted var boards: Int
  /// The numbers of some of the client's last commits.
  @Persisted var recent: List<Int>
}

/// An object that one commit makes. A later commit may remove it.
final class Entry: Object {
  /// The numbers of the author and of the commit, as in `3-20`.
  @Persisted(primaryKey: true) var id: String
  @Persisted var text: String
}

/// An object that many clients change.
final class Board: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var sum: Int
  @Persisted var text: String

  /// The id of the only board.
  static let only = 1
}
