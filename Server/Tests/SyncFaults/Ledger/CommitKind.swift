/// The change that a commit of an author makes besides counting. It follows from the number of the commit. So the
/// number of an author's commits determines the objects that must exist.
enum CommitKind {
  /// Makes an entry with the commit's number.
  case makesEntry
  /// Appends the commit's number to the list. If the list is full, its first number is removed.
  case changesList
  /// Adds 1 to the board, and writes the board's text.
  case changesBoard
  /// Removes the entry of an earlier commit; nil removes none.
  case removesEntry(Int?)

  /// The number of elements of a full list.
  static let fullList = 8

  init(_ number: Int) {
    switch number % 4 {
    case 0: self = .makesEntry
    case 1: self = .changesList
    case 2: self = .changesBoard
    default:
      let old = number - 35
      // Half of the entries stay.
      self = .removesEntry(old > 0 && old % 8 == 0 ? old : nil)
    }
  }

  /// Authors from this number on write before they have downloaded the board, so they do not change it.
  static let firstWithoutBoard = 100
}
