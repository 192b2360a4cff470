/// The elements of a large set, or the keys and values of a large map: an ordered tree (FORMAT.md, "Trees of sets and maps").
///
/// A tree is named by the ref of its root, null while it is empty. Its column tells whether it is of a set or a map, and of
/// what. Reading needs a `NodeAccess`; changing it answers a new root and leaves the nodes of the file as they are. What
/// takes one entry takes time in proportion to the height, but for strings, data and keys of more than 1000 bytes that share
/// the first 1000.
enum SortedTree {
  static let shape = TreeShape.small

  static func count(_ root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> UInt64 {
    let count = try OrderedTree.count(root, access)
    // Each entry takes a byte at least: a forged branch may count more.
    guard root.isDirty || count <= access.end else { throw access.corrupted(.rows, root) }
    return count
  }

  // MARK: - Sets

  /// Whether a set has an element that is equal.
  static func contains(
    _ element: Value, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Bool {
    let key = ElementKey(element, of: column)
    guard key.rest != nil else { return try has(key.bytes, in: root, access) }
    return try EntryPlace(key, in: root, of: column, access).isThere
  }

  /// The element of a set that is equal; nil where there is none.
  static func element(
    equalTo element: Value, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value? {
    let place = try EntryPlace(ElementKey(element, of: column), in: root, of: column, access)
    return place.isThere ? try entry(at: place.key, in: root, of: column, access).value : nil
  }

  /// How many elements of a set are less, and whether the next one is equal.
  static func position(
    of element: Value, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (position: UInt64, isThere: Bool) {
    try position(of: ElementKey(element, of: column), in: root, of: column, access)
  }

  // MARK: - Maps

  /// The value of a key of a map; nil where there is none.
  static func value(
    of key: String, in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value? {
    if key.utf8.count <= ElementKey.maximumContent,
      #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    {
      // The key's own bytes are looked for, without a copy.
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

  /// How many keys of a map are less, and whether the next one is the same.
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

  /// The entry with `position` others before it; nil from the count on.
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

  /// Calls `body` with the entries from a position on, in their order, until it answers false. Takes memory for one at a time.
  static func forEach(
    in root: Ref, of column: Column, from position: UInt64 = 0, _ access: borrowing NodeAccess,
    _ body: (SortedEntry) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try forEachStored(in: root, from: position, access) { (key, value) throws(StorageError) in
      try body(try entry(key, value, of: column, root, access))
    }
  }

  /// The same of what is stored.
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

  /// Entries from a position on, so many at most.
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

  /// The whole set, a list in its order, or the whole map.
  static func all(
    _ root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    var (keys, values): ([String], [Value]) = ([], [])
    // Keys tell the order of elements, but for those that they do not tell whole: these may be forged.
    var isOrderTold = !ElementKey.mayBeUntold(column)
    // Forged counts may be any.
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

  /// Bytes that the set or map takes as one value of a piece (`CompositeCell`); nil where it would take more than `limit`.
  /// Looks at no more of it than the limit has room for.
  static func inlineLength(
    _ root: Ref, of column: Column, atMost limit: Int, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Int? {
    let count = try count(root, access)
    var scratch: [UInt8] = []
    scratch.appendVarint(count)
    // Each takes a bit at least.
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

  /// Whether two sets, or two maps, have the same entries. Takes time in proportion to the leaves that only one of them has.
  static func areEqual(
    _ left: Ref, _ leftAccess: borrowing NodeAccess, _ right: Ref, _ rightAccess: borrowing NodeAccess,
    of column: Column
  ) throws(StorageError) -> Bool {
    guard try count(left, leftAccess) == count(right, rightAccess) else { return false }
    return try differences(from: left, leftAccess, to: right, rightAccess, of: column).isEmpty
  }

  /// The entries that differ, by the keys of the tree and in their order.
  static func differences(
    from old: Ref, _ oldAccess: borrowing NodeAccess, to new: Ref, _ newAccess: borrowing NodeAccess,
    of column: Column
  ) throws(StorageError) -> [TreeDiff.Difference] {
    var differences = try TreeDiff.differences(from: old, oldAccess, to: new, newAccess) {
      (old, new) throws(StorageError) in
      try old.contents(oldAccess) == new.contents(newAccess)
    }
    guard column.type == .mixed, column.collection == .map else { return differences }
    // Lists and maps in mixed values are equal whatever their ids.
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

  /// Whether the tree has a key.
  static func has(
    _ key: [UInt8], in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Bool {
    try OrderedTree.find(key.span.bytes, in: root, access) { _ in true } ?? false
  }

  /// The bytes of the value of a key in the tree; nil where there is none.
  static func bytes(
    of key: [UInt8], in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [UInt8]? {
    try OrderedTree.find(key.span.bytes, in: root, access) { (value) throws(StorageError) in
      try value.contents(access)
    }
  }

  /// The entry of a key that is there.
  static func entry(
    at key: [UInt8], in root: Ref, of column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> SortedEntry {
    guard let bytes = try bytes(of: key, in: root, access),
      let entry = EntryCoding.entry(key, bytes, of: column)
    else { throw access.corrupted(.structure, root) }
    return entry
  }
}
