import CRealmSodium

/// Gathers the instructions of a transaction into changesets of at most 1 MiB, and puts these into the changelog of the
/// file with the changesets that undo them.
///
/// A transaction becomes one changeset, or several that follow each other if it is large. It is cut between
/// instructions, but never between the creation of an object and the values with which the object is created.
final class ChangesetMaker {
  private let editor: NodeEditor
  var state: ChangelogState
  private var stored: ChangelogState
  /// True if changesets were removed or replaced since the changelog was stored last.
  private var areOthersChanged = false
  private var tree: Ref
  /// The changeset that is being made, and the changeset that undoes it.
  private var stream = ChangesetStream()
  private var undo = ChangesetStream()
  /// The object of the last instruction in `stream`, and that of the last instruction in `undo`.
  private var current: LinkTarget?
  private var undone: LinkTarget?
  /// The hashes of the objects of the changeset. A hash may stand here more than once.
  private var changed: [UInt64] = []
  /// The rows of each table that were made in the changeset. What is done to such an object needs no undo, because the
  /// undo removes the object.
  private var made: [UInt32: [ClosedRange<UInt64>]] = [:]
  /// The places of names in the changeset: the name of the table, and the names of its columns by their positions, with
  /// -1 for a companion column.
  private var places: [UInt32: (table: Int, columns: [Int])] = [:]
  /// The hashes of the long values of the changeset.
  private var chunks: Set<[UInt8]> = []
  /// The bytes of the long values. They count for the size, so that a changeset can be sent in one message with its
  /// long values.
  private var longBytes = 0
  /// The time at which the changesets are made, in milliseconds since 1970; nil asks the machine.
  var time: UInt64?
  /// True while the added instructions must stand in one changeset, because they are undone as a whole.
  var isWhole = false
  /// The reason why the transaction can't be committed.
  private var refused: StorageError?

  /// An object of the file.
  struct SyncedObject {
    var row: LinkTarget
    var name: ObjectName
    let hash: UInt64

    init(row: LinkTarget, name: ObjectName) {
      (self.row, self.name) = (row, name)
      hash = ObjectHash(row.table, name.key).word
    }
  }

  /// The greatest number of bytes of a changeset.
  static let mostBytes = 1 << 20
  /// A changeset ends when its undo has more bytes than this, because the undo is held in memory.
  private static let mostUndoBytes = 8 << 20
  /// Texts and data with more bytes than this stand apart from their changeset.
  static let mostInline = 512 << 10
  /// The greatest number of bytes of a value.
  static let mostValueBytes = 15 << 20
  /// The values of a new object stand with its creation if each has at most this many bytes. Longer values are set by
  /// instructions behind the creation.
  static let mostWithCreation = 1 << 10

  init(_ changelog: StoredChangelog, _ editor: NodeEditor) {
    self.editor = editor
    (state, stored) = (changelog.state, changelog.state)
    tree = changelog.tree
  }

  /// The first of `count` consecutive ids for new elements.
  ///
  /// - Throws: `.limitExceeded`.
  func elementIDs(_ count: UInt64) throws(StorageError) -> UInt64 {
    guard count <= ChangelogState.mostElements - state.nextElement else {
      throw .limitExceeded(.elementIDs, path: editor.store.storage.path)
    }
    defer { state.nextElement += count }
    return ElementID(replica: state.replica, counter: UInt32(state.nextElement)).stored
  }

  // MARK: - Adding

  func add(_ instruction: SchemaInstruction) throws(StorageError) {
    try cut(before: 0)
    stream.append(instruction)
    current = nil
  }

  /// Adds an instruction. An instruction that can't be synced is left out, and the commit throws its error, because a
  /// change of an object in a program can't throw.
  ///
  /// - Parameter undo: the instructions that undo it, in the order in which they are to be applied.
  func add(
    _ instruction: Instruction, to object: SyncedObject, undo inverse: [Instruction] = []
  ) throws(StorageError) {
    let (size, property, depth) = instruction.size
    guard size <= Self.mostValueBytes else {
      return refuse(
        .limitExceeded(
          .syncedValueLength(
            table: object.name.table, column: property, maximum: Self.mostValueBytes),
          path: editor.store.storage.path))
    }
    guard depth <= InstructionPath.mostSteps else {
      return refuse(
        .notSyncable(
          .tooDeep, table: object.name.table, column: property, path: editor.store.storage.path))
    }
    try cut(before: size)
    begin(object)
    stream.append(size > Self.mostInline ? try withChunks(instruction) : instruction)
    undo(inverse, object)
  }

  private func refuse(_ error: StorageError) { refused = refused ?? error }

  /// Adds the instructions that undo the last added instruction.
  private func undo(_ inverse: [Instruction], _ object: SyncedObject) {
    guard !inverse.isEmpty, !isMade(object.row) else { return }
    if undone != object.row {
      undo.begin(object.name)
      undone = object.row
    }
    for instruction in inverse.reversed() { undo.append(instruction) }
  }

  /// Adds the creation of objects, with their values.
  ///
  /// - Parameter more: called behind the creation of each row, to add the values that do not stand with the creation.
  func create(
    _ rows: CreatedRows, _ schema: TableSchema, more: ((Int) throws(StorageError) -> Void)?
  ) throws(StorageError) {
    var names: (table: Int, columns: [Int]) = (0, [])
    var sequence: UInt64 = 0
    for row in rows.keys.indices {
      try cut(before: rows.size(row))
      if sequence != state.nextSequence {
        sequence = state.nextSequence
        names = places(schema)
      }
      note(rows.keys[row], madeIn: schema.id)
      stream.create(rows, row, table: names.table, places: names.columns)
      changed.append(ObjectHash(schema.id, key: rows.names.bytes[rows.names.range(row)]).word)
      current = LinkTarget(table: schema.id, row: rows.keys[row])
      try more?(row)
    }
  }

  /// The places of the names of a table and its columns in the changeset.
  private func places(_ schema: TableSchema) -> (table: Int, columns: [Int]) {
    var names = places[schema.id] ?? (stream.place(of: schema.name), [])
    while names.columns.count < schema.columns.count {
      let column = schema.columns[names.columns.count]
      names.columns.append(column.isCompanion ? -1 : stream.place(of: column.name))
    }
    places[schema.id] = names
    return names
  }

  private func begin(_ object: SyncedObject) {
    guard current != object.row else { return }
    stream.begin(object.name)
    current = object.row
    changed.append(object.hash)
  }

  private func note(_ row: UInt64, madeIn table: UInt32) {
    let ranges = made[table, default: []].count
    if ranges > 0, let last = made[table]?[ranges - 1], last.upperBound + 1 == row {
      made[table]?[ranges - 1] = last.lowerBound...row
    } else {
      made[table, default: []].append(row...row)
    }
  }

  /// True if the object was made in the changeset.
  private func isMade(_ row: LinkTarget) -> Bool {
    made[row.table]?.contains { $0.contains(row.row) } ?? false
  }

  /// The instruction with its long values stored apart from it.
  private func withChunks(_ instruction: Instruction) throws(StorageError) -> Instruction {
    switch instruction {
    case .set(let path, let value, let isDefault):
      .set(path, try withChunks(value), isDefault: isDefault)
    case .insert(let path, let id, let left, let right, let value):
      .insert(path, id, left: left, right: right, try withChunks(value))
    case .setInsert(let path, let value): .setInsert(path, try withChunks(value))
    case .setErase(let path, let value): .setErase(path, try withChunks(value))
    default: instruction
    }
  }

  private func withChunks(_ value: InstructionValue) throws(StorageError) -> InstructionValue {
    switch value {
    case .value(.string(let text)) where text.utf8.count > Self.mostInline:
      return try chunk(Array(text.utf8), isText: true)
    case .value(.data(let data)) where data.count > Self.mostInline: return try chunk(data, isText: false)
    case .list(let elements):
      return .list(try elements.map { (value) throws(StorageError) in try withChunks(value) })
    case .map(let keys, let values):
      return .map(keys, try values.map { (value) throws(StorageError) in try withChunks(value) })
    default: return value
    }
  }

  private func chunk(_ bytes: [UInt8], isText: Bool) throws(StorageError) -> InstructionValue {
    let hash = bytes.contentHash
    if chunks.insert(hash).inserted {
      longBytes += bytes.count
      let key = ChangelogKey.chunk(state.nextSequence, hash).bytes
      tree = try StoredValue.set(bytes, for: key, in: tree, editor)
    }
    return .chunked(hash: hash, length: UInt32(bytes.count), isText: isText)
  }

  // MARK: - Storing

  /// Ends the changeset if it has no room for `size` more bytes.
  private func cut(before size: Int) throws(StorageError) {
    let isFull =
      stream.count + longBytes + size > Self.mostBytes || undo.count > Self.mostUndoBytes
    guard isFull, !stream.isEmpty, !isWhole else { return }
    try store()
  }

  private func store() throws(StorageError) {
    let sequence = state.nextSequence
    var clock = HybridClock(last: state.lastStamp, offset: state.clockOffset)
    state.lastStamp = clock.stamp(at: time ?? Clock.now / 1_000_000)
    changed.sortWithoutRepeats()
    let changeset = StoredChangeset(
      sequence, stamp: state.lastStamp, base: state.base, querySet: state.querySet, hashes: changed,
      bytes: stream.finish(), undo: undo.isEmpty ? [] : undo.finish())
    state.nextSequence += 1
    tree = try StoredValue.set(
      changeset.stored, for: ChangelogKey.changeset(sequence).bytes, in: tree, editor)
    try index(sequence)
    (current, undone, chunks, longBytes) = (nil, nil, [], 0)
    changed.removeAll(keepingCapacity: true)
    made.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    if editor.isLarge { tree = try editor.spillIfLarge([tree])[0] }
  }

  /// Adds the last changesets to the index if there are enough of them.
  private func index(_ last: UInt64) throws(StorageError) {
    state.unindexedObjects += UInt64(changed.count)
    guard
      last - state.indexed >= ChangelogIndex.mostChangesets
        || state.unindexedObjects >= ChangelogIndex.mostObjects
    else { return }
    var entries = changed.map { ChangelogIndex.Entry(hash: $0, sequence: last) }
    for sequence in state.indexed + 1..<last {
      let key = ChangelogKey.changeset(sequence).bytes
      let access = editor.access()
      let bytes = try OrderedTree.find(key.span.bytes, in: tree, access) { (value) throws(StorageError) in
        try value.contents(access)
      }
      // An acknowledged changeset is not in the tree any more, and is not looked for.
      guard let bytes else { continue }
      guard let changeset = StoredChangeset(sequence, bytes) else { throw access.corrupted(.structure, tree) }
      for hash in changeset.hashes { entries.append(ChangelogIndex.Entry(hash: hash, sequence: sequence)) }
    }
    entries.sort()
    tree = try ChangelogIndex.add(entries, to: tree, editor)
    (state.indexed, state.unindexedObjects) = (last, 0)
  }

  /// The changelog with all changes so far, except the changeset that is being made.
  var changelog: StoredChangelog { StoredChangelog(state: state, tree: tree) }

  /// Replaces the changeset with the same sequence, which changes the same objects.
  ///
  /// - Parameter hasLongValues: true if the long values of the changeset stand in it, and not apart from it any more.
  func replace(_ changeset: StoredChangeset, hasLongValues: Bool) throws(StorageError) {
    if hasLongValues {
      let (first, end) = (changeset.sequence, changeset.sequence + 1)
      for key in try keys(from: .chunk(first, []), below: .chunk(end, [])) {
        tree = try key.remove(from: tree, editor)
      }
    }
    let key = ChangelogKey.changeset(changeset.sequence)
    tree = try key.remove(from: tree, editor)
    tree = try StoredValue.set(changeset.stored, for: key.bytes, in: tree, editor)
    areOthersChanged = true
  }

  /// Removes the changesets up to a sequence, which the server has acknowledged, and what is stored beside them. Takes
  /// time in proportion to them.
  func acknowledge(upTo sequence: UInt64) throws(StorageError) {
    guard !tree.isNull else { return }
    let runs = try ChangelogIndex.keys(ofLevel: nil, tree, editor.access()).filter { key in
      if case .run(_, let last) = key { last <= sequence } else { false }
    }
    let parts =
      try keys(from: .chunk(0, []), below: .chunk(sequence + 1, []))
      + keys(from: .changeset(0), below: .changeset(sequence + 1))
    for key in runs + parts { tree = try key.remove(from: tree, editor) }
    areOthersChanged = true
  }

  private func keys(from start: ChangelogKey, below end: ChangelogKey) throws(StorageError) -> [ChangelogKey]
  {
    let access = editor.access()
    var found: [ChangelogKey] = []
    var cursor = TreeCursor(tree)
    try cursor.seek(start.bytes.span.bytes, access)
    while cursor.isValid {
      let bytes = try cursor.withEntry(access) { leaf, index in leaf.key(index) }
      guard bytes.lexicographicallyPrecedes(end.bytes) else { break }
      guard let key = ChangelogKey(bytes) else { throw access.corrupted(.structure, tree) }
      found.append(key)
      try cursor.next(access)
    }
    return found
  }

  /// Stores the changesets in a catalogue. Returns true if there was anything to store.
  func store(in catalogue: inout Catalogue) throws(StorageError) -> Bool {
    if let refused { throw refused }
    if !stream.isEmpty { try store() }
    guard state != stored || areOthersChanged else { return false }
    (stored, areOthersChanged) = (state, false)
    try NamedSlots.set(
      .knownToWrite, state.bytes, root: tree, for: ChangelogSlot.name, in: &catalogue, editor)
    return true
  }
}

extension Instruction {
  /// The approximate number of bytes of the instruction, the property that it changes, and the number of steps behind
  /// the property.
  fileprivate var size: (bytes: Int, property: String, depth: Int) {
    let none = InstructionPath("")
    let (path, bytes) =
      switch self {
      case .create, .delete: (none, 8)
      case .set(let path, let value, _): (path, value.length)
      case .insert(let path, _, _, _, let value): (path, value.length + 16)
      case .setInsert(let path, let value), .setErase(let path, let value): (path, value.length)
      case .ingest(_, let values): (none, values.reduce(8) { $0 + $1.length + 8 })
      case .add(let path, _), .newEmbedded(let path), .killEmbedded(let path), .clear(let path, _),
        .move(let path, _, _, _, _), .erase(let path, _):
        (path, 32)
      }
    return (bytes + path.length, path.property, path.steps.count)
  }
}

extension InstructionPath {
  fileprivate var length: Int {
    steps.reduce(16) { sum, step in
      if case .key(let key) = step { sum + key.utf8.count + 2 } else { sum + 12 }
    }
  }
}

extension InstructionValue {
  fileprivate var length: Int {
    switch self {
    case .value(let value): value.length
    // A short element counts as 16 bytes, because a server accepts a limited number of elements, which take more room
    // in memory.
    case .list(let elements): elements.reduce(8) { $0 + max(16, $1.length) }
    case .map(let keys, let values):
      zip(keys, values).reduce(8) { $0 + $1.0.utf8.count + 2 + max(16, $1.1.length) }
    case .chunked: 40
    case .link(let object): object.key.length + 4
    case .absent, .collection, .embedded: 2
    }
  }
}

extension Value {
  /// The approximate number of bytes of the value in a changeset. The value must not be a list or map.
  var length: Int {
    switch self {
    case .string(let text): text.utf8.count + 4
    case .data(let data): data.count + 4
    default: 17
    }
  }
}

extension [UInt8] {
  /// The BLAKE2b hash of 32 bytes, which names a value that stands elsewhere.
  package var contentHash: [UInt8] {
    var hash = [UInt8](repeating: 0, count: ChangesetTag.hashLength)
    crypto_generichash(&hash, hash.count, self, UInt64(count), nil, 0)
    return hash
  }
}
