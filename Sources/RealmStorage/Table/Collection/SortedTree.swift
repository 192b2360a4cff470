/// The tree of a large set or map: an ordered tree of the elements, or of the keys and values (FORMAT.md, "Trees of
/// sets and maps").
///
/// A tree is given by the ref of its root, which is null while the tree is empty. Its column says whether it is the
/// tree of a set or of a map, and the type of the elements. Reading needs a `NodeAccess`. A change returns a new root
/// and leaves the nodes of the file unchanged. An operation on one entry takes time in proportion to the height of the
/// tree. Strings, data and map keys of more than 1000 bytes that have the same first 1000 bytes take longer.
enum SortedTree {
  static let shape = TreeShape.small

  static func count(_ root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> UInt64 {
    let count = try OrderedTree.count(root, access)
    // Each entry takes at least one byte of the file. Only a forged branch can count more entries.
    guard root.isDirty || count <= access.end else { throw access.corrupted(.rows, root) }
    return count
  }

  // MARK: - Sets

  /// Whether a set has an element that is equal to `element`.
  static func contains(
    _ element: Value, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Bool {
    let key = ElementKey(element, of: column)
    guard key.rest != nil else { return try has(key.bytes, in: root, access) }
    return try EntryPlace(key, in: root, of: column, access).isThere
  }

  /// The element of a set that is equal to `element`; nil if there is none.
  static func element(
    equalTo element: Value, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value? {
    let place = try EntryPlace(ElementKey(element, of: column), in: root, of: column, access)
    return place.isThere ? try entry(at: place.key, in: root, of: column, access).value : nil
  }

  /// The number of elements of a set that are less than `element`, and whether the next one is equal to it.
  static func position(
    of element: Value, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (position: UInt64, isThere: Bool) {
    try position(of: ElementKey(element, of: column), in: root, of: column, access)
  }

  // MARK: - Maps

  /// The value of a key of a map; nil if the map lacks the key.
  static func value(
    of key: String, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value? {
    if key.utf8.count <= ElementKey.maximumContent,
      #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    {
      // The bytes of the key are used without a copy.
      return try value(at: key.utf8Span.span.bytes, isCut: false, in: root, of: column, access)
    }
    let key = ElementKey(mapKey: key)
    guard key.rest != nil else {
      return try value(at: key.bytes.span.bytes, isCut: false, in: root, of: column, access)
    }
    let place = try EntryPlace(key, in: root, of: column, access)
    return place.isThere
      ? try value(at: place.key.span.bytes, isCut: true, in: root, of: column, access) : nil
  }

  private static func value(
    at key: RawSpan, isCut: Bool, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value? {
    try OrderedTree.find(key, in: root, access) { (stored) throws(StorageError) in
      if !isCut, stored.ref == nil, let text = EntryCoding.text(stored.bytes, column) { return .string(text) }
      guard let read = EntryCoding.mapValue(try stored.contents(access), isCut: isCut, column) else {
        throw access.corrupted(.structure, root)
      }
      return read.value
    }
  }

  /// The number of keys of a map that are less than `key`, and whether the next one is the same key.
  static func position(
    ofKey key: String, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (position: UInt64, isThere: Bool) {
    try position(of: ElementKey(mapKey: key), in: root, of: column, access)
  }

  // MARK: - Both

  private static func position(
    of key: ElementKey, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (position: UInt64, isThere: Bool) {
    guard key.rest != nil else { return try position(of: key.bytes.span.bytes, in: root, access) }
    let place = try EntryPlace(key, in: root, of: column, access)
    return (try OrderedTree.rank(place.key.span.bytes, in: root, access), place.isThere)
  }

  private static func position(
    of key: RawSpan, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (position: UInt64, isThere: Bool) {
    guard !root.isNull else { return (0, false) }
    var (ref, before) = (root, UInt64(0))
    while ref.isBranch {
      let branch = BranchNode(try access.node(ref))
      let index = branch.search(key)
      ref = branch.child(index)
      OrderedTree.prefetch(ref, access)
      for earlier in 0..<index { before &+= branch.rows(earlier) }
    }
    let (index, isThere) = try OrderedTree.leaf(ref, access).search(key)
    return (before &+ UInt64(index), isThere)
  }

  /// The entry at a position; nil if the position is not less than the count.
  static func entry(
    at position: UInt64, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> SortedEntry? {
    var found: SortedEntry?
    try forEach(in: root, of: column, from: position, access) { entry in
      found = entry
      return false
    }
    return found
  }

  /// Calls `body` with the entries from a position on, in their order, until it returns false. Only one entry is in
  /// memory at a time.
  static func forEach(
    in root: Ref, of column: Column, from position: UInt64 = 0, _ access: borrowing NodeAccess,
    _ body: (SortedEntry) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try forEachStored(in: root, from: position, access) { (key, value) throws(StorageError) in
      try body(try entry(key, value, of: column, root, access))
    }
  }

  /// Calls `body` with the stored keys and values of the entries from a position on, in their order, until it returns
  /// false.
  static func forEachStored(
    in root: Ref, from position: UInt64 = 0, _ access: borrowing NodeAccess,
    _ body: (_ key: [UInt8], TreeValue) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard !root.isNull else { return }
    var cursor = TreeCursor(root)
    try cursor.seek(position: position, access)
    while cursor.isValid {
      let goesOn = try cursor.forEachInLeaf(access) { (leaf, index) throws(StorageError) in
        try body(leaf.key(index), leaf.value(index))
      }
      guard goesOn else { return }
    }
  }

  /// The entries from a position on, but no more than `most`.
  static func entries(
    from position: Int, atMost most: Int, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [SortedEntry] {
    var entries: [SortedEntry] = []
    try forEach(in: root, of: column, from: UInt64(position), access) { (entry) throws(StorageError) in
      entries.append(entry)
      return entries.count < most
    }
    return entries
  }

  /// The whole set, as a list in the order of the elements, or the whole map.
  static func all(
    _ root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    var (keys, values): ([String], [Value]) = ([], [])
    // The order of the keys in the tree proves the order of the elements, except for keys that do not identify their
    // element completely. The elements of these may be forged.
    var isOrderTold = !ElementKey.mayBeUntold(column)
    // A forged count can be any number, so it must not decide how much memory is reserved.
    values.reserveCapacity(Int(min(try count(root, access), 1 << 16)))
    try forEachStored(in: root, access) { (key, value) throws(StorageError) in
      let entry = try entry(key, value, of: column, root, access)
      if let key = entry.key { keys.append(key) }
      values.append(entry.value)
      isOrderTold = isOrderTold && key.count <= ElementKey.maximumContent
      return true
    }
    guard column.collection == .map else {
      guard isOrderTold || ValueOrder.isSet(values) else { throw access.corrupted(.keyOrder, root) }
      return .list(values)
    }
    guard let map = ValueMap(ascending: keys, values) else { throw access.corrupted(.keyOrder, root) }
    return .map(map)
  }

  /// The number of bytes that the set or map takes as one value of a piece (`CompositeCell`); nil if that is more than
  /// `limit`. Reads only as many entries as the limit has room for.
  static func inlineLength(
    _ root: Ref, of column: Column, atMost limit: Int, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Int? {
    let count = try count(root, access)
    var scratch: [UInt8] = []
    scratch.appendVarint(count)
    // Each entry takes at least one bit.
    guard limit >= 0, count / 8 <= UInt64(limit) else { return nil }
    var length = scratch.count + (column.isOptional ? Int(count / 8 + (count % 8 > 0 ? 1 : 0)) : 0)
    guard length <= limit else { return nil }
    try forEachStored(in: root, access) { (key, value) throws(StorageError) in
      if let ref = value.ref, try LongValue.length(ref, access) > limit {
        length = .max
        return false
      }
      let entry = try entry(key, value, of: column, root, access)
      scratch.removeAll(keepingCapacity: true)
      if let key = entry.key { ValueCoding.append(key, to: &scratch) }
      if entry.value != .null { EntryCoding.append(entry.value, of: column, to: &scratch) }
      length += scratch.count
      return length <= limit
    }
    return length <= limit ? length : nil
  }

  /// Whether two sets, or two maps, have the same entries. Takes time in proportion to the leaves that only one of the
  /// trees has.
  static func areEqual(
    _ left: Ref, _ leftAccess: borrowing NodeAccess, _ right: Ref, _ rightAccess: borrowing NodeAccess,
    of column: Column
  ) throws(StorageError) -> Bool {
    guard try count(left, leftAccess) == count(right, rightAccess) else { return false }
    return try differences(from: left, leftAccess, to: right, rightAccess, of: column).isEmpty
  }

  /// The differences between two trees, with the keys of the entries in the tree, in the order of the keys.
  static func differences(
    from old: Ref, _ oldAccess: borrowing NodeAccess, to new: Ref, _ newAccess: borrowing NodeAccess,
    of column: Column
  ) throws(StorageError) -> [TreeDiff.Difference] {
    var differences = try TreeDiff.differences(from: old, oldAccess, to: new, newAccess) {
      (old, new) throws(StorageError) in
      try old.contents(oldAccess) == new.contents(newAccess)
    }
    guard column.type == .mixed, column.collection == .map else { return differences }
    // The ids of lists and maps in mixed values are not compared.
    var real: [TreeDiff.Difference] = []
    for difference in differences {
      if case .changed(let key) = difference,
        try entry(at: key, in: old, of: column, oldAccess) == entry(at: key, in: new, of: column, newAccess)
      {
        continue
      }
      real.append(difference)
    }
    differences = real
    return differences
  }

  // MARK: - What is stored

  private static func entry(
    _ key: [UInt8], _ value: TreeValue, of column: Column, _ root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> SortedEntry {
    guard let entry = EntryCoding.entry(key, try value.contents(access), of: column) else {
      throw access.corrupted(.structure, root)
    }
    return entry
  }

  /// Whether the tree has an entry with a key.
  static func has(
    _ key: [UInt8], in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Bool {
    try OrderedTree.find(key.span.bytes, in: root, access) { _ in true } ?? false
  }

  /// The bytes of the value that is stored for a key in the tree; nil if the tree lacks the key.
  static func bytes(
    of key: [UInt8], in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [UInt8]? {
    try OrderedTree.find(key.span.bytes, in: root, access) { (value) throws(StorageError) in
      try value.contents(access)
    }
  }

  /// The entry of a key that the tree has.
  ///
  /// - Throws: `.corrupted`, also if the tree lacks the key.
  static func entry(
    at key: [UInt8], in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> SortedEntry {
    guard let bytes = try bytes(of: key, in: root, access),
      let entry = EntryCoding.entry(key, bytes, of: column)
    else { throw access.corrupted(.structure, root) }
    return entry
  }
}
