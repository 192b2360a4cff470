/// Finds the changesets that change an object, by the hash of its name.
///
/// Each changeset lists the hashes of its objects. From time to time, the hashes of the last changesets are sorted into
/// a run. Several runs are merged into a larger run, and so on, as in a log-structured merge tree (O'Neil and others,
/// 1996). So a commit costs little however many changesets there are, and a search looks into few runs.
enum ChangelogIndex {
  /// An object, by its hash, and a changeset that changes it.
  struct Entry: Comparable, Hashable {
    var hash: UInt64
    var sequence: UInt64

    static func < (left: Entry, right: Entry) -> Bool {
      left.hash == right.hash ? left.sequence < right.sequence : left.hash < right.hash
    }
  }

  /// A run is made as soon as this many changesets, or changesets with this many objects, are in no run.
  static let mostChangesets: UInt64 = 64
  static let mostObjects: UInt64 = 4096
  /// The number of runs of a level that are put together into one run of the next level.
  private static let mostRuns = 16
  /// The number of entries above which a run is not merged any more.
  private static let longest = 8192
  /// The level of the runs that are not merged any more.
  private static let lastLevel = UInt8.max

  private static let entrySize = 16

  static func encode(_ entries: [Entry]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(entries.count * entrySize)
    for entry in entries {
      bytes.appendInteger(entry.hash)
      bytes.appendInteger(entry.sequence)
    }
    return bytes
  }

  /// Reads what `encode` made. Returns nil for bytes that are not a run.
  static func decode(_ bytes: [UInt8]) -> [Entry]? {
    guard bytes.count % entrySize == 0 else { return nil }
    let entries = stride(from: 0, to: bytes.count, by: entrySize).map {
      Entry(hash: bytes.load(UInt64.self, at: $0), sequence: bytes.load(UInt64.self, at: $0 + 8))
    }
    return zip(entries, entries.dropFirst()).allSatisfy { $0 < $1 } ? entries : nil
  }

  /// The sequences of the changesets in a run that change an object.
  static func sequences(of hash: ObjectHash, in bytes: [UInt8]) -> [UInt64] {
    let hashes = (0..<bytes.count / entrySize)
    func entry(_ place: Int) -> UInt64 { bytes.load(UInt64.self, at: place * entrySize) }
    var place = hashes.partitioningIndex { entry($0) >= hash.word }
    var found: [UInt64] = []
    while place < hashes.count, entry(place) == hash.word {
      found.append(bytes.load(UInt64.self, at: place * entrySize + 8))
      place += 1
    }
    return found
  }

  /// Adds a run to the tree of a changelog.
  static func add(
    _ entries: [Entry], to tree: Ref, _ editor: NodeEditor
  ) throws(StorageError) -> Ref {
    var (tree, entries, level) = (tree, entries, UInt8(1))
    while entries.count <= longest, level < lastLevel {
      let runs = try keys(ofLevel: level, tree, editor.access())
      guard runs.count + 1 >= mostRuns else { break }
      for key in runs {
        entries += try self.entries(key, tree, editor.access())
        tree = try key.remove(from: tree, editor)
      }
      entries.sort()
      level += 1
    }
    if entries.count > longest { level = lastLevel }
    guard let last = entries.map(\.sequence).max() else { return tree }
    return try StoredValue.set(
      encode(entries), for: ChangelogKey.run(level, last).bytes, in: tree, editor)
  }

  static func entries(
    _ key: ChangelogKey, _ tree: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Entry] {
    let bytes = try OrderedTree.find(key.bytes.span.bytes, in: tree, access) { (value) throws(StorageError) in
      try value.contents(access)
    }
    guard let entries = bytes.flatMap(decode) else { throw access.corrupted(.structure, tree) }
    return entries
  }

  /// The keys of the runs of a level, or of all runs if `level` is nil.
  static func keys(
    ofLevel level: UInt8?, _ tree: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [ChangelogKey] {
    guard !tree.isNull else { return [] }
    var found: [ChangelogKey] = []
    var cursor = TreeCursor(tree)
    try cursor.seek(ChangelogKey.run(level ?? 0, 0).bytes.span.bytes, access)
    while cursor.isValid {
      let key = try cursor.withEntry(access) { leaf, index in ChangelogKey(leaf.key(index)) }
      guard case .run(let other, _)? = key, level == nil || level == other, let key else { break }
      found.append(key)
      try cursor.next(access)
    }
    return found
  }
}

/// The hash of an object's name, by which its changesets are found. Two objects may have the same hash.
struct ObjectHash: Hashable {
  var word: UInt64

  init(_ table: UInt32, _ key: Value) {
    var bytes: [UInt8] = []
    ValueCoding.appendMixed(key, to: &bytes)
    self.init(table, key: bytes)
  }

  /// - Parameter key: the primary key as a mixed value.
  init(_ table: UInt32, key: some Sequence<UInt8>) {
    // FNV-1a of 64 bits (Fowler, Noll and Vo, 1991), of the id of the table, lowest byte first, and of the key.
    word = 0xcbf2_9ce4_8422_2325
    for shift in stride(from: 0, to: 32, by: 8) { add(UInt8(truncatingIfNeeded: table >> UInt32(shift))) }
    for byte in key { add(byte) }
  }

  private mutating func add(_ byte: UInt8) { word = (word ^ UInt64(byte)) &* 0x100_0000_01b3 }
}
