/// Checks the changelog of a synced file: each changeset must be readable, and must be found by the objects that it
/// changes.
enum ChangelogCheck {
  /// Takes time in proportion to the changelog. Returns the number of changesets.
  ///
  /// - Throws: `.corrupted` for the first thing that is wrong.
  static func run(_ catalogue: Catalogue, _ reader: any NodeReader) throws(StorageError) -> UInt64 {
    guard let changelog = try StoredChangelog(catalogue, reader.access()), !changelog.tree.isNull else {
      return 0
    }
    let tables = try Tables.schemas(catalogue, reader.access())
    let found = try OrderedTree.check(changelog.tree, reader) { (value, access) throws(StorageError) in
      _ = try value.contents(access)
    }
    let damage = reader.access().corrupted(.structure, changelog.tree)
    var known = try entries(of: changelog, reader)
    var (changesets, chunks, last): (UInt64, UInt64, UInt64) = (0, 0, 0)
    try changelog.forEach(reader) { (stored) throws(StorageError) in
      guard stored.sequence > last, stored.sequence < changelog.state.nextSequence,
        let content = try? Changeset(bytes: stored.bytes),
        let undo = stored.undo.isEmpty ? Changeset() : try? Changeset(bytes: stored.undo),
        stored.hashes == hashes(content.objects + undo.objects, tables)
      else { throw damage }
      last = stored.sequence
      changesets += 1
      for (hash, length) in content.chunks {
        guard let bytes = try changelog.chunk(hash, of: stored.sequence, reader),
          bytes.count == length, bytes.contentHash == hash
        else { throw damage }
        chunks += 1
      }
      guard stored.sequence <= changelog.state.indexed else { return true }
      for hash in stored.hashes {
        guard known.remove(ChangelogIndex.Entry(hash: hash, sequence: stored.sequence)) != nil else {
          throw damage
        }
      }
      return true
    }
    let runs = try ChangelogIndex.keys(ofLevel: nil, changelog.tree, reader.access()).count
    // Runs may still have entries of changesets that were acknowledged.
    guard known.allSatisfy({ $0.sequence <= changelog.state.indexed }),
      changesets + chunks + UInt64(runs) == found
    else { throw damage }
    return changesets
  }

  private static func entries(
    of changelog: StoredChangelog, _ reader: any NodeReader
  ) throws(StorageError) -> Set<ChangelogIndex.Entry> {
    var entries: Set<ChangelogIndex.Entry> = []
    for key in try ChangelogIndex.keys(ofLevel: nil, changelog.tree, reader.access()) {
      entries.formUnion(try ChangelogIndex.entries(key, changelog.tree, reader.access()))
    }
    return entries
  }

  /// The hashes of objects, sorted; nil if a table does not exist.
  private static func hashes(_ objects: [ObjectInstructions], _ tables: [TableSchema]) -> [UInt64]? {
    var hashes: [UInt64] = []
    for object in objects {
      guard let table = tables.first(where: { $0.isNamed(object.id.table) }) else { return nil }
      hashes.append(ObjectHash(table.id, object.id.key).word)
    }
    hashes.sortWithoutRepeats()
    return hashes
  }
}

extension Changeset {
  /// The hashes and lengths of the long values that are stored outside of the changeset.
  fileprivate var chunks: [[UInt8]: Int] {
    var found: [[UInt8]: Int] = [:]
    func look(_ value: InstructionValue) {
      switch value {
      case .chunked(let hash, let length, _): found[hash] = Int(length)
      case .list(let values), .map(_, let values): for value in values { look(value) }
      default: break
      }
    }
    for object in objects {
      for instruction in object.instructions {
        switch instruction {
        case .set(_, let value, _), .insert(_, _, _, _, let value), .setInsert(_, let value),
          .setErase(_, let value):
          look(value)
        default: break
        }
      }
    }
    return found
  }
}
