/// The changelog as it stands in a synced file (FORMAT.md, "Changelog"). It holds the changesets of this file that no
/// server has acknowledged yet, by their sequence.
package struct StoredChangelog {
  package let state: ChangelogState
  let tree: Ref

  init(state: ChangelogState, tree: Ref) { (self.state, self.tree) = (state, tree) }

  /// Reads the changelog from the named slots of a version. The result is nil for a file that is not synced.
  ///
  /// - Throws: `.corrupted`.
  init?(_ catalogue: Catalogue, _ access: borrowing NodeAccess) throws(StorageError) {
    let slots = catalogue.namedSlots
    guard let slot = try NamedSlots.find(ChangelogSlot.name, in: slots, access) else { return nil }
    guard let state = ChangelogState(slot.bytes), slot.rule == .knownToWrite else {
      throw access.corrupted(.structure, slots)
    }
    self.state = state
    tree = slot.root
  }

  /// The number of changesets. O(log n).
  package func count(_ reader: any NodeReader) throws(StorageError) -> Int {
    guard !tree.isNull else { return 0 }
    let access = reader.access()
    let others = try OrderedTree.rank(ChangelogKey.changeset(0).bytes.span.bytes, in: tree, access)
    return Int(clamping: try OrderedTree.count(tree, access)) - Int(clamping: others)
  }

  /// Calls `body` with each changeset from a sequence on, in order, until `body` returns false.
  ///
  /// - Throws: `.corrupted`, also if the bytes of a changeset can't be read; and what `body` throws.
  package func forEach(
    from sequence: UInt64 = 0, _ reader: any NodeReader,
    _ body: (StoredChangeset) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard !tree.isNull else { return }
    var cursor = TreeCursor(tree)
    try cursor.seek(ChangelogKey.changeset(sequence).bytes.span.bytes, reader.access())
    while cursor.isValid {
      let access = reader.access()
      let (key, bytes) = try cursor.withEntry(access) { (leaf, index) throws(StorageError) in
        (leaf.key(index), try leaf.value(index).contents(access))
      }
      guard let key = ChangelogKey(key) else { throw access.corrupted(.structure, tree) }
      guard case .changeset(let sequence) = key else { return }
      guard let found = StoredChangeset(sequence, bytes) else { throw access.corrupted(.structure, tree) }
      guard try body(found) else { return }
      try cursor.next(access)
    }
  }

  /// The changeset with a sequence; nil if there is none.
  package func changeset(
    _ sequence: UInt64, _ reader: any NodeReader
  ) throws(StorageError) -> StoredChangeset? {
    let access = reader.access()
    guard let bytes = try value(.changeset(sequence), access) else { return nil }
    guard let found = StoredChangeset(sequence, bytes) else { throw access.corrupted(.structure, tree) }
    return found
  }

  /// A long value that a changeset names by its hash; nil if there is none.
  package func chunk(
    _ hash: [UInt8], of sequence: UInt64, _ reader: any NodeReader
  ) throws(StorageError) -> [UInt8]? {
    try value(.chunk(sequence, hash), reader.access())
  }

  private func value(
    _ key: ChangelogKey, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [UInt8]? {
    try OrderedTree.find(key.bytes.span.bytes, in: tree, access) { (value) throws(StorageError) in
      try value.contents(access)
    }
  }

  /// A search for the changesets that change objects, in the present state of the file. This method reads the index
  /// once, which takes about 16 bytes of memory for each object that a changeset changes.
  ///
  /// - Throws: `.corrupted`.
  package func search(_ reader: any NodeReader) throws(StorageError) -> ChangesetSearch {
    var search = ChangesetSearch()
    guard !tree.isNull else { return search }
    for key in try ChangelogIndex.keys(ofLevel: nil, tree, reader.access()) {
      if let bytes = try value(key, reader.access()) { search.runs.append(bytes) }
    }
    try forEach(from: state.indexed + 1, reader) { (changeset) throws(StorageError) in
      for hash in changeset.hashes { search.unindexed[hash, default: []].append(changeset.sequence) }
      return true
    }
    return search
  }
}

/// Finds the changesets that change objects.
package struct ChangesetSearch {
  /// The runs of the index.
  fileprivate var runs: [[UInt8]] = []
  /// The sequences of the changesets that the index does not have yet, by the hashes of their objects.
  fileprivate var unindexed: [UInt64: [UInt64]] = [:]

  /// The sequences of the changesets that change an object, in ascending order. They may include changesets of another
  /// object whose name has the same hash.
  package func sequences(of object: ObjectName, table: UInt32) -> [UInt64] {
    let hash = ObjectHash(table, object.key)
    var found = unindexed[hash.word] ?? []
    for run in runs { found += ChangelogIndex.sequences(of: hash, in: run) }
    found.sort()
    return found
  }
}

/// The state that a synced file stores beside its changesets.
package struct ChangelogState: Sendable, Equatable {
  /// The sequence of the next changeset. The first one is 1.
  package var nextSequence: UInt64 = 1
  /// The last stamp that was given or seen.
  package var lastStamp = Stamp(word: 0)
  /// The counter of the next id of a list element; 2^32 when all counters are used.
  package var nextElement: UInt64 = 1
  /// The milliseconds that are added to the time of the machine, as the server told them last.
  package var clockOffset: Int64 = 0
  /// The number that stands for this file in ids of elements. The file had another number while it was another replica.
  package var replica: UInt32 = ElementID.own
  /// The version of the server's log that the file has applied; nil before its first registration.
  package var base: UInt64?
  /// The number of the newest query set.
  package var querySet: UInt64 = 0
  /// The sequence up to which the runs of the index have the objects of all changesets.
  var indexed: UInt64 = 0
  /// The sum of the numbers of objects in the changesets behind `indexed`.
  var unindexedObjects: UInt64 = 0

  package init() {}

  private enum Layout {
    static let nextSequence = 0
    static let lastStamp = 8
    static let nextElement = 16
    static let base = 24
    static let querySet = 32
    static let indexed = 40
    static let unindexedObjects = 48
    static let replica = 56
    static let clockOffset = 64
    static let size = 72
  }
  /// The stored base of a file that was never registered.
  static let noBase = UInt64.max
  static let mostElements = UInt64(1) << 32

  /// The state in stored bytes; nil if the bytes are not a valid state.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Layout.size else { return nil }
    nextSequence = bytes.load(UInt64.self, at: Layout.nextSequence)
    lastStamp = Stamp(word: bytes.load(UInt64.self, at: Layout.lastStamp))
    nextElement = bytes.load(UInt64.self, at: Layout.nextElement)
    let base = bytes.load(UInt64.self, at: Layout.base)
    self.base = base == Self.noBase ? nil : base
    querySet = bytes.load(UInt64.self, at: Layout.querySet)
    indexed = bytes.load(UInt64.self, at: Layout.indexed)
    unindexedObjects = bytes.load(UInt64.self, at: Layout.unindexedObjects)
    guard let replica = UInt32(exactly: bytes.load(UInt64.self, at: Layout.replica)) else { return nil }
    self.replica = replica
    clockOffset = bytes.load(Int64.self, at: Layout.clockOffset)
    guard HybridClock.offsets.contains(clockOffset), (1...UInt32(Int32.max)).contains(replica),
      nextSequence > 0, nextSequence < 1 << 62, querySet < 1 << 62,
      (1...Self.mostElements).contains(nextElement),
      indexed < nextSequence, nextSequence - indexed <= ChangelogIndex.mostChangesets + 1,
      unindexedObjects <= ChangelogIndex.mostObjects
    else { return nil }
  }

  var bytes: [UInt8] {
    var bytes = [UInt8].zeros(Layout.size)
    bytes.store(nextSequence, at: Layout.nextSequence)
    bytes.store(lastStamp.word, at: Layout.lastStamp)
    bytes.store(nextElement, at: Layout.nextElement)
    bytes.store(base ?? Self.noBase, at: Layout.base)
    bytes.store(querySet, at: Layout.querySet)
    bytes.store(indexed, at: Layout.indexed)
    bytes.store(unindexedObjects, at: Layout.unindexedObjects)
    bytes.store(UInt64(replica), at: Layout.replica)
    bytes.store(clockOffset, at: Layout.clockOffset)
    return bytes
  }
}

/// A changeset with what is stored beside it.
package struct StoredChangeset: Sendable, Equatable {
  package var sequence: UInt64
  package var stamp: Stamp
  /// The version of the server's log that the file had applied when the changeset was made; nil if there was none.
  package var base: UInt64?
  /// The number of the newest query set when the changeset was made.
  package var querySet: UInt64
  /// The hashes of the objects that the changeset changes, in ascending order.
  var hashes: [UInt64]
  /// The bytes of the changeset, in the form of `Changeset.bytes`.
  package var bytes: [UInt8]
  /// The changeset that undoes this one, in the form of `Changeset.bytes`. The instructions of an object are applied
  /// from the last to the first, after the object was removed if the changeset created it. It is empty if nothing else
  /// has to be undone.
  package var undo: [UInt8] = []
  /// True if the undo also says which objects have to be removed.
  package var isUndoComplete = false

  private enum Layout {
    static let stamp = 0
    static let base = 8
    static let querySet = 16
    static let hashCount = 24
    static let length = 28
    static let hashes = 32
  }
  private static let undoIsComplete = UInt32(1) << 31

  init(
    _ sequence: UInt64, stamp: Stamp, base: UInt64?, querySet: UInt64, hashes: [UInt64], bytes: [UInt8],
    undo: [UInt8]
  ) {
    (self.sequence, self.stamp, self.base, self.querySet) = (sequence, stamp, base, querySet)
    (self.hashes, self.bytes, self.undo) = (hashes, bytes, undo)
  }

  /// The changeset in stored bytes; nil if they are damaged.
  init?(_ sequence: UInt64, _ stored: [UInt8]) {
    guard stored.count >= Layout.hashes else { return nil }
    let count = stored.load(UInt32.self, at: Layout.hashCount)
    isUndoComplete = count & Self.undoIsComplete != 0
    let content = Layout.hashes + 8 * Int(count & ~Self.undoIsComplete)
    let end = content + Int(stored.load(UInt32.self, at: Layout.length))
    guard content < end, end <= stored.count else { return nil }
    self.sequence = sequence
    stamp = Stamp(word: stored.load(UInt64.self, at: Layout.stamp))
    let base = stored.load(UInt64.self, at: Layout.base)
    self.base = base == ChangelogState.noBase ? nil : base
    querySet = stored.load(UInt64.self, at: Layout.querySet)
    hashes = stride(from: Layout.hashes, to: content, by: 8).map { stored.load(UInt64.self, at: $0) }
    bytes = Array(stored[content..<end])
    undo = Array(stored[end...])
  }

  /// The bytes that stand in the tree.
  var stored: [UInt8] {
    var made: [UInt8] = []
    made.reserveCapacity(Layout.hashes + 8 * hashes.count + bytes.count + undo.count)
    made.appendInteger(stamp.word)
    made.appendInteger(base ?? ChangelogState.noBase)
    made.appendInteger(querySet)
    made.appendInteger(UInt32(hashes.count) | (isUndoComplete ? Self.undoIsComplete : 0))
    made.appendInteger(UInt32(bytes.count))
    for hash in hashes { made.appendInteger(hash) }
    made += bytes
    made += undo
    return made
  }
}
