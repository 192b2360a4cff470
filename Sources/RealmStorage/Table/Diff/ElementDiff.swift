/// Lists the changes of the elements of a collection, in an order in which each change fits the state after the changes
/// before it.
struct ElementDiff {
  /// A closure that gets a change and the values that it replaces or removes, and returns whether it wants more.
  typealias Body = (RowChange.Kind, RecordedChange.Before) throws(StorageError) -> Bool

  let cell: CellPlace
  let column: Column
  let old: CollectionDiff.Side
  let new: CollectionDiff.Side

  private var place: ElementsPlace { ElementsPlace(cell: cell) }

  /// Calls `body` with each change until it returns false. Returns whether `body` wanted all changes.
  func forEach(
    _ changes: CollectionChanges, _ oldAccess: borrowing NodeAccess, _ newAccess: borrowing NodeAccess,
    _ body: Body
  ) throws(StorageError) -> Bool {
    switch changes {
    case .list(let changes): try list(changes, oldAccess, newAccess, body)
    case .set(let changes): try set(changes, oldAccess, newAccess, body)
    case .map(let changes): try map(changes, oldAccess, newAccess, body)
    }
  }

  /// The changes go from the beginning to the end of the list. The elements before the present change are those of the
  /// newer list.
  private func list(
    _ changes: ElementChanges, _ oldAccess: borrowing NodeAccess, _ newAccess: borrowing NodeAccess,
    _ body: Body
  ) throws(StorageError) -> Bool {
    var (deletions, insertions) = (changes.deletions[...], changes.insertions[...])
    var modifications = changes.modifications[...]
    // The position of the next element of each list.
    var (left, right) = (0, 0)
    while !deletions.isEmpty || !insertions.isEmpty || !modifications.isEmpty {
      let kept = min(
        deletions.first.map { $0 - left } ?? .max, insertions.first.map { $0 - right } ?? .max,
        modifications.first.map { $0.old - left } ?? .max)
      (left, right) = (left + kept, right + kept)
      while modifications.first?.old == left {
        modifications.removeFirst()
        let before = try old.elements(left..<left + 1, of: column, oldAccess)
        let after = try new.elements(right..<right + 1, of: column, newAccess)
        guard try body(.setElement(after[0], at: right, place), .value(before[0])) else { return false }
        (left, right) = (left + 1, right + 1)
      }
      let removed = deletions.takeRun(from: left)
      if removed > 0 {
        let before = try old.elements(left..<left + removed, of: column, oldAccess)
        guard try body(.removeElements(right..<right + removed, place), .values(before)) else { return false }
        left += removed
      }
      let inserted = insertions.takeRun(from: right)
      if inserted > 0 {
        let after = try new.elements(right..<right + inserted, of: column, newAccess)
        guard try body(.insertElements(after, at: right, place), .nothing) else { return false }
        right += inserted
      }
    }
    return true
  }

  private func set(
    _ changes: ElementChanges, _ oldAccess: borrowing NodeAccess, _ newAccess: borrowing NodeAccess,
    _ body: Body
  ) throws(StorageError) -> Bool {
    let removed = try old.elements(
      at: (changes.deletions + changes.modifications.map(\.old)).sorted(), of: column, oldAccess)
    let inserted = try new.elements(
      at: (changes.insertions + changes.modifications.map(\.new)).sorted(), of: column, newAccess)
    if !removed.isEmpty, try !body(.removeFromSet(removed, cell), .values(removed)) { return false }
    return inserted.isEmpty ? true : try body(.insertIntoSet(inserted, cell), .nothing)
  }

  private func map(
    _ changes: KeyChanges, _ oldAccess: borrowing NodeAccess, _ newAccess: borrowing NodeAccess,
    _ body: Body
  ) throws(StorageError) -> Bool {
    for key in changes.deletions {
      let before = try old.value(ofKey: key, of: column, oldAccess)
      guard try body(.removeValue(key: key, place), .value(before)) else { return false }
    }
    for key in changes.modifications {
      let before = try old.value(ofKey: key, of: column, oldAccess)
      let after = try new.value(ofKey: key, of: column, newAccess)
      guard try body(.setValue(after, key: key, place), .value(before)) else { return false }
    }
    for key in changes.insertions {
      let after = try new.value(ofKey: key, of: column, newAccess)
      guard try body(.setValue(after, key: key, place), .nothing) else { return false }
    }
    return true
  }
}

extension CollectionDiff.Side {
  /// The collection of a row of a cluster.
  ///
  /// - Throws: `.corrupted`, also if the cell is null, or if it is a map and the column is not one of maps, or the
  ///   reverse.
  init(
    _ column: Column, _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    guard let part = cluster.composite(of: column.id) else {
      self = .value(column.absentValue)
      return
    }
    let cell = try cluster.cell(part, row, dictionary: .null, access.lent)
    if let tree = cell.tree {
      self = .tree(tree)
      return
    }
    let value = try TableReading.value(column, row, of: cluster, dictionary: .null, access)
    switch (column.collection, value) {
    case (.map, .map), (.list, .list), (.set, .list): self = .value(value)
    default: throw access.corrupted(.structure, cell.source)
    }
  }

  /// Consecutive elements.
  fileprivate func elements(
    _ range: Range<Int>, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Value] {
    switch self {
    case .value(let value): return Array((value.elements ?? [])[range])
    case .tree(let root):
      guard column.collection != .list else {
        return try ListTree.values(range, of: root, column.element, access)
      }
      let entries = try SortedTree.entries(
        from: range.lowerBound, atMost: range.count, in: root, of: column, access)
      guard entries.count == range.count else { throw access.corrupted(.rows, root) }
      return entries.map(\.value)
    }
  }

  fileprivate func elements(
    at positions: [Int], of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Value] {
    var elements: [Value] = []
    var rest = positions[...]
    while let first = rest.first {
      let count = rest.takeRun(from: first)
      elements += try self.elements(first..<first + count, of: column, access)
    }
    return elements
  }

  /// The value of a key that the map has.
  fileprivate func value(
    ofKey key: String, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    switch self {
    case .value(.map(let map, _)): return map[key] ?? .null
    case .value: return .null
    case .tree(let root):
      guard let value = try SortedTree.value(of: key, in: root, of: column, access) else {
        throw access.corrupted(.structure, root)
      }
      return value
    }
  }
}

extension ArraySlice<Int> {
  /// Removes the consecutive numbers at the beginning, if the first of them is `first`. Returns how many there were.
  mutating func takeRun(from first: Int) -> Int {
    var count = 0
    while self.first == first + count {
      removeFirst()
      count += 1
    }
    return count
  }
}
