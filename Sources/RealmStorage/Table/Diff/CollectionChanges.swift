/// What changed in a collection of a row between two versions.
public enum CollectionChanges: Sendable, Equatable {
  case list(ElementChanges)
  case set(ElementChanges)
  case map(KeyChanges)

  public var isEmpty: Bool {
    switch self {
    case .list(let changes), .set(let changes): changes.isEmpty
    case .map(let changes): changes.isEmpty
    }
  }
}

/// What changed in a list, or in a set in the order of its elements: the older elements without the deletions and with the
/// insertions, and with the modified ones replaced, are the newer elements.
///
/// In a list of values a deletion and an insertion between the same two elements that stay are told as a modification, pairwise
/// from the left. In a list of links, whose elements are objects, they are not: another object is no modification of
/// the first. In a set a modification is an element that is equal and stored otherwise, as 1 and 1.0 in a set of any values.
public struct ElementChanges: Sendable, Equatable {
  /// Positions in the older version, growing.
  public var deletions: [Int] = []
  /// Positions in the newer version, growing.
  public var insertions: [Int] = []
  /// In growing order.
  public var modifications: [Modification] = []

  /// An element that took the place of another.
  public struct Modification: Sendable, Equatable {
    /// The position in the older version.
    public var old: Int
    /// The position in the newer version.
    public var new: Int

    public init(old: Int, new: Int) {
      self.old = old
      self.new = new
    }
  }

  public init() {}

  public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

  /// - Parameters:
  ///   - changes: of a part of the list that begins at `start` in both versions.
  ///   - pairs: deletions and insertions between the same two elements are told as modifications.
  init(_ changes: ListChanges, from start: Int, pairs: Bool) {
    var (old, new) = (changes.deletions[...], changes.insertions[...])
    // Positions behind the last change: of the next element that stays in both.
    var (oldNext, newNext) = (0, 0)
    while !old.isEmpty || !new.isEmpty {
      let kept = min(
        old.first.map { $0 - oldNext } ?? .max, new.first.map { $0 - newNext } ?? .max)
      (oldNext, newNext) = (oldNext + kept, newNext + kept)
      let deleted = old.takeRun(from: oldNext)
      let inserted = new.takeRun(from: newNext)
      let paired = pairs ? min(deleted, inserted) : 0
      for place in 0..<paired {
        modifications.append(Modification(old: start + oldNext + place, new: start + newNext + place))
      }
      deletions += (oldNext + paired..<oldNext + deleted).map { start + $0 }
      insertions += (newNext + paired..<newNext + inserted).map { start + $0 }
      (oldNext, newNext) = (oldNext + deleted, newNext + inserted)
    }
  }
}

/// What changed in a map.
public struct KeyChanges: Sendable, Equatable {
  /// Keys that only the older version has, in their order.
  public var deletions: [String] = []
  /// Keys that only the newer version has, in their order.
  public var insertions: [String] = []
  /// Keys of both versions with other values, in their order.
  public var modifications: [String] = []

  public init() {}

  public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

  // Keys differ where their bytes do, also where the texts are equivalent.
  public static func == (left: KeyChanges, right: KeyChanges) -> Bool {
    func isSame(_ left: [String], _ right: [String]) -> Bool {
      left.count == right.count && zip(left, right).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }
    return isSame(left.deletions, right.deletions) && isSame(left.insertions, right.insertions)
      && isSame(left.modifications, right.modifications)
  }
}

extension ListChanges {
  /// The same of elements.
  ///
  /// - Parameter pairs: deletions and insertions between the same two elements are told as modifications.
  package func elements(pairs: Bool) -> ElementChanges { ElementChanges(self, from: 0, pairs: pairs) }
}
