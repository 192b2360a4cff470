/// What a commit of an author does beside counting. It follows from the number of the commit: who knows how many commits an author has made knows what has to be
/// there.
enum CommitKind {
  /// Makes an entry of its number.
  case makesEntry
  /// Puts its number behind those in the list. If the list is full, the first one goes.
  case changesList
  /// Adds 1 to the board, and writes its text.
  case changesBoard
  /// Removes the entry of an earlier commit; nil removes none.
  case removesEntry(Int?)

  /// A list with so many numbers is full.
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

  /// Authors from this number on write before they have downloaded anything, and so leave the board alone.
  static let firstWithoutBoard = 100
}
