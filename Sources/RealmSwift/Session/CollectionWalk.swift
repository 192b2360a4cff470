import RealmStorage

/// The elements of a managed collection as they were when a loop over it began. They are read in groups that are stored together.
struct CollectionWalk {
  fileprivate enum Source {
    case list(StoredList)
    case sorted(StoredSorted)
    case held(HeldCollection)
    case values([Value], keys: [String])
  }

  private let source: Source
  private let session: RealmSession
  /// The generation in which the loop began. Objects among the elements may not exist any more, because they were
  /// deleted or their transaction was cancelled.
  let generation: UInt64

  fileprivate init(_ source: Source, _ session: RealmSession) {
    self.source = source
    self.session = session
    generation = session.generation
  }

  var count: Int {
    switch source {
    case .list(let list): list.count
    case .sorted(let sorted): sorted.count
    case .held(let held): held.count
    case .values(let values, _): values.count
    }
  }

  /// The next elements, or values of a map, from a position on; empty behind the last one.
  func elements(from position: Int) -> [Value] {
    session.check()
    return reading { () throws(StorageError) in
      switch source {
      case .list(let list): try list.elements(from: min(position, list.count))
      case .sorted(let sorted): try sorted.entries(from: position).map { $0.value }
      case .held(let held): try held.elements(from: position)
      case .values(let values, _): position == 0 ? values : []
      }
    }
  }

  /// The next entries of a map, from a position on; empty behind the last one.
  func entries(from position: Int) -> [(key: String, value: Value)] {
    session.check()
    let entries = reading { () throws(StorageError) -> [(key: String?, value: Value)] in
      switch source {
      case .list: []
      case .sorted(let sorted): try sorted.entries(from: position)
      case .held(let held): try held.entries(from: position)
      case .values(let values, let keys): position == 0 ? zip(keys, values).map { ($0, $1) } : []
      }
    }
    return entries.map { ($0.key ?? "", $0.value) }
  }

  /// The element at a position.
  ///
  /// - Precondition: the position is in range.
  func element(at position: Int) -> Value {
    session.check()
    return reading { () throws(StorageError) in
      switch source {
      case .list(let list): try list.element(at: position)
      case .sorted(let sorted): try sorted.element(at: position)
      case .held(let held): try held.element(at: position)
      case .values(let values, _): values[position]
      }
    }
  }

}

extension _CollectionCell {
  /// A walk over the elements as they are now.
  mutating func walk() -> CollectionWalk {
    let session = owner.session
    if isOfKept { return CollectionWalk(.values([], keys: []), session) }
    if nestedPlace != nil {
      let value = nestedValue()
      if case .map(let map, _) = value { return CollectionWalk(.values(map.values, keys: map.keys), session) }
      return CollectionWalk(.values(value.elements ?? [], keys: []), session)
    }
    guard !session.isWriting else {
      let (column, row) = (column, owner.row)
      let held = read { (table) throws(StorageError) in try table.holding(column, ofRow: row) }
      return CollectionWalk(.held(held), session)
    }
    if isList { return CollectionWalk(.list(storedList()), session) }
    return CollectionWalk(.sorted(storedSorted()), session)
  }
}
