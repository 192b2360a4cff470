/// Finds the differences between two versions of a collection. If both are trees, this takes time in proportion to what
/// changed.
struct CollectionDiff {
  /// The collection in one version.
  enum Side {
    case tree(Ref)
    case value(Value)
  }

  let column: Column

  func changes(
    from old: Side, _ oldAccess: borrowing NodeAccess, to new: Side, _ newAccess: borrowing NodeAccess
  ) throws(StorageError) -> CollectionChanges {
    if case .tree(let left) = old, case .tree(let right) = new {
      guard column.collection != .list else {
        return .list(try list(from: left, oldAccess, to: right, newAccess))
      }
      let differences = try SortedTree.differences(from: left, oldAccess, to: right, newAccess, of: column)
      // The entries with cut keys get other keys when an entry before them is added or removed, so collections with a
      // difference in such keys are compared as a whole.
      if !differences.contains(where: { ElementKey.isCut($0.key, of: column) ?? true }) {
        return column.collection == .set
          ? .set(try set(differences, from: left, oldAccess, to: right, newAccess))
          : .map(try map(differences, from: left, oldAccess, to: right, newAccess))
      }
    }
    let (left, right) = (try value(old, oldAccess), try value(new, newAccess))
    switch (left, right) {
    case (.map(let left, _), .map(let right, _)): return .map(changes(from: left, to: right))
    default:
      let (left, right) = (left.elements ?? [], right.elements ?? [])
      if column.collection == .set { return .set(changes(fromSet: left, to: right)) }
      return .list(ElementChanges(ListChanges(from: left, to: right), from: 0, pairs: pairs))
    }
  }

  private var pairs: Bool { column.type != .link }

  private func value(_ side: Side, _ access: borrowing NodeAccess) throws(StorageError) -> Value {
    switch side {
    case .tree(let root): try CollectionForm.value(root, column, access)
    case .value(let value): value
    }
  }

  // MARK: - Lists

  /// Elements before the first difference and after the last one are skipped, and a shared subtree is skipped at once.
  private func list(
    from old: Ref, _ oldAccess: borrowing NodeAccess, to new: Ref, _ newAccess: borrowing NodeAccess
  ) throws(StorageError) -> ElementChanges {
    let element = column.element
    let counts = (old: try ListTree.count(old, oldAccess), new: try ListTree.count(new, newAccess))
    let start = try ListTree.commonStart(old, oldAccess, new, newAccess, element)
    let end = try ListTree.commonEnd(
      old, oldAccess, new, newAccess, element, atMost: min(counts.old, counts.new) - start)
    let left = try ListTree.values(start..<counts.old - end, of: old, element, oldAccess)
    let right = try ListTree.values(start..<counts.new - end, of: new, element, newAccess)
    return ElementChanges(ListChanges(from: left, to: right), from: start, pairs: pairs)
  }

  // MARK: - Sets and maps

  private func set(
    _ differences: [TreeDiff.Difference], from old: Ref, _ oldAccess: borrowing NodeAccess, to new: Ref,
    _ newAccess: borrowing NodeAccess
  ) throws(StorageError) -> ElementChanges {
    var changes = ElementChanges()
    for difference in differences {
      let key = difference.key.span.bytes
      switch difference {
      case .removed: changes.deletions.append(try rank(key, in: old, oldAccess))
      case .inserted: changes.insertions.append(try rank(key, in: new, newAccess))
      case .changed:
        changes.modifications.append(
          .init(old: try rank(key, in: old, oldAccess), new: try rank(key, in: new, newAccess)))
      }
    }
    return changes
  }

  private func rank(_ key: RawSpan, in root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> Int
  {
    let rank = try OrderedTree.rank(key, in: root, access)
    // Only branches with forged counts give a greater rank.
    guard rank < 1 << 48 else { throw access.corrupted(.rows, root) }
    return Int(rank)
  }

  private func map(
    _ differences: [TreeDiff.Difference], from old: Ref, _ oldAccess: borrowing NodeAccess, to new: Ref,
    _ newAccess: borrowing NodeAccess
  ) throws(StorageError) -> KeyChanges {
    var changes = KeyChanges()
    for difference in differences {
      switch difference {
      case .removed(let key): changes.deletions.append(try text(key, in: old, oldAccess))
      case .inserted(let key): changes.insertions.append(try text(key, in: new, newAccess))
      case .changed(let key): changes.modifications.append(try text(key, in: new, newAccess))
      }
    }
    return changes
  }

  private func text(
    _ key: [UInt8], in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> String {
    guard let text = try SortedTree.entry(at: key, in: root, of: column, access).key else {
      throw access.corrupted(.structure, root)
    }
    return text
  }

  private func changes(fromSet old: [Value], to new: [Value]) -> ElementChanges {
    var changes = ElementChanges()
    var (left, right) = (0, 0)
    while left < old.count || right < new.count {
      let order =
        left == old.count ? 1 : right == new.count ? -1 : ValueOrder.sort(old[left], new[right])
      if order < 0 {
        changes.deletions.append(left)
      } else if order > 0 {
        changes.insertions.append(right)
      } else if old[left] != new[right] {
        changes.modifications.append(.init(old: left, new: right))
      }
      if order <= 0 { left += 1 }
      if order >= 0 { right += 1 }
    }
    return changes
  }

  private func changes(from old: ValueMap, to new: ValueMap) -> KeyChanges {
    var changes = KeyChanges()
    for (key, value) in zip(old.keys, old.values) {
      guard let now = new[key] else {
        changes.deletions.append(key)
        continue
      }
      if now != value { changes.modifications.append(key) }
    }
    changes.insertions = new.keys.filter { old[$0] == nil }
    return changes
  }
}
