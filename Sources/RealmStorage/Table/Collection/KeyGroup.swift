/// The entries of a tree whose cut keys begin with the same bytes. Ordinals number the entries in the order of the
/// bytes that the keys have no room for.
struct KeyGroup {
  /// The bytes that the keys have in common.
  let head: [UInt8]
  let count: UInt32

  init(_ head: [UInt8], in root: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    var (least, beyond) = (head, head)
    least += [UInt8](repeating: 0, count: ElementKey.ordinalLength)
    beyond += [UInt8](repeating: 0xff, count: ElementKey.ordinalLength + 1)
    let count = try OrderedTree.count(from: least.span.bytes, below: beyond.span.bytes, in: root, access)
    // A forged count can be any number.
    guard let count = UInt32(exactly: count) else { throw access.corrupted(.rows, root) }
    self.head = head
    self.count = count
  }

  /// The key in the tree of the entry with an ordinal.
  func key(_ ordinal: UInt32) -> [UInt8] {
    var key = head
    key.appendHighestFirst(ordinal)
    return key
  }

  /// The first entry whose remaining bytes are not less than `rest`, and whether they are equal to it.
  func search(
    _ rest: ArraySlice<UInt8>, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (ordinal: UInt32, isThere: Bool) {
    var (low, high) = (UInt32(0), count)
    while low < high {
      let middle = low + (high - low) / 2
      let other = try SortedTree.bytes(of: key(middle), in: root, access)
      guard let other, let otherRest = EntryCoding.rest(other, of: column) else {
        throw access.corrupted(.structure, root)
      }
      let order = otherRest.span.bytes.compare(rest.span.bytes)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }
}

/// The place of an entry in a tree, or the place at which it would be inserted.
struct EntryPlace {
  /// The key of the entry in the tree.
  var key: [UInt8]
  var isThere: Bool
  /// For a cut key, the group of entries whose keys begin with the same bytes, and the place of the entry in the group;
  /// nil for a complete key.
  var group: (all: KeyGroup, ordinal: UInt32)?

  init(
    _ key: ElementKey, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    guard let rest = key.rest else {
      self.key = key.bytes
      isThere = try SortedTree.has(key.bytes, in: root, access)
      return
    }
    let group = try KeyGroup(key.bytes, in: root, access)
    let found = try group.search(rest, in: root, of: column, access)
    self.key = group.key(found.ordinal)
    isThere = found.isThere
    self.group = (group, found.ordinal)
  }
}
