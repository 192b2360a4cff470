/// The objects that an author must have after some commits.
struct AuthorModel: Equatable {
  let author: Int
  var last = 0
  var sum = 0
  var boards = 0
  var recent: [Int] = []
  /// The numbers of the commits whose entries exist.
  var entries: Set<Int> = []

  init(_ author: Int) { self.author = author }

  /// The model after the commits from 1 to `commits`.
  init(_ author: Int, commits: Int) {
    self.init(author)
    for number in 1..<commits + 1 { commit(number) }
  }

  /// The state of the list that a commit has found.
  struct Found {
    /// The number after which the commit has put its own; nil if the list was empty.
    let left: Int?
    /// The number that the commit has removed.
    let dropped: Int?
  }

  /// Adds a commit of the author.
  @discardableResult
  mutating func commit(_ number: Int) -> Found {
    let isFull = recent.count >= CommitKind.fullList
    let found = Found(left: recent.last, dropped: isFull ? recent.first : nil)
    apply(number, at: recent.count, dropping: found.dropped)
    return found
  }

  /// Makes a commit again that was made on top of another state, as a client reset does. If the left neighbour is gone,
  /// the nearest existing number to its left replaces it.
  ///
  /// - Parameter order: The list before all commits that are made again, as the author had it.
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
