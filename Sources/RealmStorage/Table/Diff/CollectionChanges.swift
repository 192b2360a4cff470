/// The changes of a row's collection between two versions.
public enum CollectionChanges: Sendable, Equatable {
  /// The changes of a list.
  case list(ElementChanges)
  /// The changes of a set.
  case set(ElementChanges)
  /// The changes of a map.
  case map(KeyChanges)

  /// Whether nothing changed.
  public var isEmpty: Bool {
    switch self {
    case .list(let changes), .set(let changes): changes.isEmpty
    case .map(let changes): changes.isEmpty
    }
  }
}

/// The changes of a list, or of a set in the order of its elements: the older elements without the deletions, with the insertions
/// and with the modified elements replaced, are the newer elements.
///
/// In a list of values, a deletion and an insertion between the same two elements that stay are told as one modification, in
/// pairs from the left. In a list of links they are not, because another object is no modification of the first. In a set a
/// modification is an element that is equal and stored in another way, such as 1 and 1.0 in a set of mixed values.
public struct ElementChanges: Sendable, Equatable {
  /// The positions of deleted elements in the older version, in ascending order.
  public var deletions: [Int] = []
  /// The positions of inserted elements in the newer version, in ascending order.
  public var insertions: [Int] = []
  /// The modified elements, in ascending order.
  public var modifications: [Modification] = []

  /// An element that replaced another one.
  public struct Modification: Sendable, Equatable {
    /// The position in the older version.
    public var old: Int
    /// The position in the newer version.
    public var new: Int

    /// Makes a modification of two positions.
    public init(old: Int, new: Int) {
      self.old = old
      self.new = new
    }
  }

  /// Makes changes that are empty.
  public init() {}

  /// Whether nothing changed.
  public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

  /// Makes the changes of a part of a list.
  ///
  /// - Parameters:
  ///   - changes: the changes of the part.
  ///   - start: the position in both versions at which the part begins.
  ///   - pairs: whether a deletion and an insertion between the same two elements are told as a modification.
  init(_ changes: ListChanges, from start: Int, pairs: Bool) {
    var (old, new) = (changes.deletions[...], changes.insertions[...])
    // The positions after the last change, of the next element that stays in both.
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

/// The changes of a map.
public struct KeyChanges: Sendable, Equatable {
  /// The keys that only the older version has, in the order of keys.
  public var deletions: [String] = []
  /// The keys that only the newer version has, in the order of keys.
  public var insertions: [String] = []
  /// The keys that both versions have with different values, in the order of keys.
  public var modifications: [String] = []

  /// Makes changes that are empty.
  public init() {}

  /// Whether nothing changed.
  public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

  // Keys are compared by their bytes: equivalent texts with other bytes are different keys.
  public static func == (left: KeyChanges, right: KeyChanges) -> Bool {
    func isSame(_ left: [String], _ right: [String]) -> Bool {
      left.count == right.count && zip(left, right).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }
    return isSame(left.deletions, right.deletions) && isSame(left.insertions, right.insertions)
      && isSame(left.modifications, right.modifications)
  }
}

extension ListChanges {
  /// The same changes as `ElementChanges`.
  ///
  /// - Parameter pairs: whether a deletion and an insertion between the same two elements are told as a modification.
  package func elements(pairs: Bool) -> ElementChanges { ElementChanges(self, from: 0, pairs: pairs) }
}
