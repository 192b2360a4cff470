/// What has to be there of an author after some commits.
struct AuthorModel: Equatable {
  let author: Int
  var last = 0
  var sum = 0
  var boards = 0
  var recent: [Int] = []
  /// The numbers of the commits whose entries are there.
  var entries: Set<Int> = []

  init(_ author: Int) { self.author = author }

  /// After the commits from 1 to a number.
  init(_ author: Int, commits: Int) {
    self.init(author)
    for number in 1..<commits + 1 { commit(number) }
  }

  /// What a commit has found in the list.
  struct Found {
    /// The number behind which it has put its own; nil where there was none.
    let left: Int?
    /// The number that it has removed.
    let dropped: Int?
  }

  /// The author makes a commit.
  @discardableResult
  mutating func commit(_ number: Int) -> Found {
    let isFull = recent.count >= CommitKind.fullList
    let found = Found(left: recent.last, dropped: isFull ? recent.first : nil)
    apply(number, at: recent.count, dropping: found.dropped)
    return found
  }

  /// A commit that was made on top of another state is made again on top of this one, as a client reset does: a left neighbour that is gone is replaced by the nearest one
  /// to its left that is there.
  ///
  /// - Parameter order: the list before all commits that are made again, as the author has had it.
  mutating func redo(_ number: Int, _ found: Found, order: [Int]) {
    var left = found.left
    while let gone = left, !recent.contains(gone) {
      left = order.firstIndex(of: gone).flatMap { $0 > 0 ? order[$0 - 1] : nil }
    }
    let place = left.flatMap { recent.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    apply(number, at: place, dropping: found.dropped)
  }

  private mutating func apply(_ number: Int, at place: Int, dropping dropped: Int?) {
    last = number
    sum += 1
    switch CommitKind(number) {
    case .makesEntry: entries.insert(number)
    case .changesList:
      recent.insert(number, at: place)
      recent.removeAll { $0 == dropped }
    case .changesBoard: if author < CommitKind.firstWithoutBoard { boards += 1 }
    case .removesEntry(let old): if let old { entries.remove(old) }
    }
  }
}
