import RealmStorage
import RealmSyncClient
import RealmTestSupport

/// Forged files of device sync. The data that the sync keeps in them is changed, and all checksums fit. Using such a
/// file must still end, with a typed error or without an error.
struct SyncedForgeries {
  let sample: SyncedSample

  /// An entry of a tree in which the sync keeps its data.
  private struct Entry {
    let tree: String
    let key: [UInt8]
    let value: [UInt8]
  }

  func run(_ storage: ByteStorage, _ part: Part) throws {
    try forge(storage, part)
    if sample.owner == .client { try forgeParts(storage, part) }
    try forgeNodes(storage, part)
  }

  /// Fills the storage with the file, changed by `body`.
  private func change(_ storage: ByteStorage, _ body: (WriteTransaction) throws -> Void) throws {
    storage.fill(sample.bytes)
    storage.fill(try changed(storage, body))
  }

  /// Makes a change in a database that is released before this returns, because a storage is filled only while no
  /// database has it open.
  private func changed(
    _ storage: ByteStorage, _ body: (WriteTransaction) throws -> Void
  ) throws -> [UInt8] {
    let database = try SyncedSample.open(storage, sample.owner, nil)
    try database.write(.full, body)
    database.close()
    return withExtendedLifetime(database) { storage.bytes }
  }

  // MARK: - Entries and changesets

  private func forge(_ storage: ByteStorage, _ part: Part) throws {
    storage.fill(sample.bytes)
    let entries = try entries(storage)
    guard entries.contains(where: { $0.tree == "sync.records" }) else {
      throw Violation("nothing is recorded of the objects of a sample")
    }
    for number in 0..<(part.isQuick ? 400 : 20_000) {
      var generator = part.generator((1 << 30) + number)
      try part.state("forgery \(number)") {
        var options = SyncedUse.Options()
        // These trees are data of the sync itself. A change of them must not damage the objects.
        options.checksResult = true
        try change(storage) { transaction in
          for _ in 0...generator.below(3) {
            if sample.owner == .client, generator.chance(35) {
              options.checksResult = false
              try forgeChangelog(transaction, &generator)
            } else {
              try forgeEntry(transaction, entries, &generator)
            }
          }
        }
        _ = try sample.use.look(at: storage, key: nil, options)
      }
    }
  }

  private func entries(_ storage: ByteStorage) throws -> [Entry] {
    let snapshot = try SyncedSample.open(storage, sample.owner, nil).snapshot()
    var entries: [Entry] = []
    for name in try snapshot.treeNames() {
      try snapshot.tree(name).forEach { key, value in
        entries.append(Entry(tree: name, key: key, value: value))
        return true
      }
    }
    return entries
  }

  private func forgeEntry(
    _ transaction: WriteTransaction, _ entries: [Entry], _ generator: inout SeededGenerator
  ) throws {
    let entry = entry(of: entries, &generator)
    let tree = try transaction.tree(entry.tree)
    let value = PlainFrame.of(entry.value)
    switch generator.below(10) {
    case 0: try tree.removeValue(for: entry.key)
    case 1:
      // The key is cut, because a key may have at most 1,024 bytes.
      let key = ByteChanges.changed(entry.key, &generator).prefix(500)
      try tree.set(value, for: Array(key))
    case 2:
      let others = entries.filter { $0.tree == entry.tree }
      try tree.set(others[generator.below(others.count)].value, for: entry.key)
    default: try tree.set(ByteChanges.changed(value, &generator), for: entry.key)
    }
  }

  /// A random entry. There are many records and entries of the history, and few of other kinds, so the kind is chosen
  /// first.
  private func entry(of entries: [Entry], _ generator: inout SeededGenerator) -> Entry {
    var kinds: [String: [Entry]] = [:]
    for entry in entries {
      let kind = entry.tree == "sync.records" ? "" : "\(entry.key.first ?? 0)"
      kinds["\(entry.tree) \(kind)", default: []].append(entry)
    }
    let names = kinds.keys.sorted()
    let chosen = kinds[names[generator.below(names.count)]] ?? entries
    return chosen[generator.below(chosen.count)]
  }

  private func forgeChangelog(
    _ transaction: WriteTransaction, _ generator: inout SeededGenerator
  ) throws {
    guard generator.chance(60) else {
      let (field, number) = (generator.below(7), extremeValue(&generator))
      return try transaction.changeChangelogState { Self.set(field, number, of: &$0) }
    }
    var all: [StoredChangeset] = []
    try transaction.changesets()?.forEach(transaction) { changeset in
      all.append(changeset)
      return true
    }
    guard !all.isEmpty else { throw Violation("nothing is pending in a sample") }
    var changeset = all[generator.below(all.count)]
    switch generator.below(8) {
    case 0, 1, 2: changeset.bytes = ByteChanges.changed(changeset.bytes, &generator)
    case 3, 4: changeset.undo = ByteChanges.changed(changeset.undo, &generator)
    case 5: changeset.base = generator.chance(30) ? nil : extremeValue(&generator)
    case 6: changeset.stamp = Stamp(word: extremeValue(&generator))
    default: changeset.querySet = extremeValue(&generator)
    }
    try transaction.replace(changeset)
  }

  private static func set(_ field: Int, _ number: UInt64, of state: inout ChangelogState) {
    switch field {
    case 0: state.nextSequence = number
    case 1: state.lastStamp = Stamp(word: number)
    case 2: state.nextElement = number
    case 3: state.clockOffset = Int64(bitPattern: number)
    case 4: state.replica = UInt32(truncatingIfNeeded: number)
    case 5: state.base = number
    default: state.querySet = number
    }
  }

  // MARK: - Parts of a step

  /// Changes a part of a step while it is stored in the file, before the last part comes.
  private func forgeParts(_ storage: ByteStorage, _ part: Part) throws {
    var options = SyncedUse.Options()
    options.checksResult = true
    // The first part has the key of kind 4 and number 0.
    let key: [UInt8] = [4, 0, 0, 0, 0, 0, 0, 0, 0]
    for number in 0..<(part.isQuick ? 150 : 10_000) {
      var generator = part.generator((2 << 30) + number)
      try part.state("forged part \(number)") {
        storage.fill(sample.bytes)
        _ = try sample.use.look(at: storage, key: nil, options) { database in
          try database.write { transaction in
            let tree = try transaction.tree(ClientPosition.tree)
            guard let value = try tree.value(for: key) else { throw Violation("no part stands in the file") }
            try tree.set(ByteChanges.changed(PlainFrame.of(value), &generator), for: key)
          }
        }
      }
    }
  }

  // MARK: - Nodes

  /// Changes any node of the file, also nodes that no transaction can write differently.
  private func forgeNodes(_ storage: ByteStorage, _ part: Part) throws {
    var options = SyncedUse.Options()
    options.writes = false
    let forge = try Forge(sample.bytes)
    for number in 0..<(part.isQuick ? 250 : 30_000) {
      var generator = part.generator((3 << 30) + number)
      var forged = forge
      for _ in 0...generator.below(3) { forged.mutate(&generator) }
      try part.state("forged nodes \(number)") {
        storage.fill(forged.bytes)
        _ = try sample.use.look(at: storage, key: nil, options)
      }
    }
  }
}
