import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport

/// Functions that do with the objects of the model's class what programs do.
extension ModelClass {
  /// Makes random changes. The first call also makes the class.
  ///
  /// - Parameter keys: The bound of the primary keys: the changes use keys below it.
  package static func change(
    _ transaction: WriteTransaction, keys: Int, changes: Int, _ generator: inout SeededGenerator
  ) throws {
    if try transaction.table(name) == nil { try make(transaction) }
    guard let writer = try RandomWriter(transaction, keys: keys) else { return }
    for _ in 0..<changes { try writer.change(&generator) }
  }

  /// Gives a file the query set for the objects of a mask over the values of the filter field.
  package static func ask(_ mask: Int, _ database: Database, _ durability: Durability) throws {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var file = try ClientFile(transaction)
    _ = try file.setQueries([query(mask)])
    try transaction.commit(durability)
  }

  /// True if such a mask shows an object, which is given as its text.
  package static func isShown(_ text: String, by mask: Int) -> Bool {
    // The filter field comes first in the text. An object without the field counts as if its value were 0.
    guard text.hasPrefix("(1:"), let field = Int(text.dropFirst(3).prefix { $0.isNumber }) else {
      return mask & 1 != 0
    }
    return mask >> field & 1 != 0
  }

  /// The objects of a client's file as texts, in which elements are named by the numbers of replicas.
  package static func texts(ofFile snapshot: Snapshot) throws -> [Int64: String] {
    let position = try ClientPosition(snapshot.tree(ClientPosition.tree))
    return try texts(snapshot) { number(of: $0, position) }
  }

  /// The objects of a client's file without its pending changes. These are the server's objects at the version of the
  /// file.
  package static func textsWithoutPending(_ database: Database) throws -> [Int64: String] {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var pending: [StoredChangeset] = []
    try transaction.changesets()?.forEach(transaction) { changeset in
      pending.append(changeset)
      return true
    }
    for changeset in pending.reversed() { try transaction.undo(changeset) }
    let position = try ClientPosition(transaction.tree(ClientPosition.tree))
    return try texts(transaction) { number(of: $0, position) }
  }

  /// The texts have no room for the number of a file that was never registered, so it is cut to 48 bits.
  private static func number(of index: UInt32, _ position: ClientPosition) -> UInt64 {
    min(position.replicas[Int(index)], 1 << 48)
  }

  /// Describes an object in which two files differ; nil if the files are equal.
  package static func difference(_ found: [Int64: String], _ expected: [Int64: String]) -> String? {
    for key in Set(found.keys).union(expected.keys).sorted() where found[key] != expected[key] {
      return "object \(key) is\n  \(found[key] ?? "not there")\nin place of\n  \(expected[key] ?? "none")"
    }
    return nil
  }
}

/// Fingerprints that differ for most different contents of synced files and of servers' files.
package enum SyncedContent {
  /// The fingerprint of the objects of a client's file, its changesets with their undo, and its position in the log.
  /// The records for merging are left out, because their effect is visible in what later steps make of the file.
  package static func fingerprint(of snapshot: Snapshot) throws -> UInt64 {
    var hash = Fingerprint()
    // Elements are named by the numbers that replicas have in the file.
    add(try ModelClass.texts(snapshot) { UInt64($0) }, to: &hash)
    try snapshot.tree(ClientPosition.tree).forEach { key, value in
      hash.add(key)
      hash.add(value)
      return true
    }
    guard let changelog = try snapshot.changelog() else { return hash.value }
    let state = changelog.state
    for word in [
      state.nextSequence, state.lastStamp.word, state.nextElement, UInt64(bitPattern: state.clockOffset),
      UInt64(state.replica), state.base ?? .max, state.querySet,
    ] { hash.add(word) }
    try changelog.forEach(snapshot) { stored in
      for word in [stored.sequence, stored.stamp.word, stored.base ?? .max, stored.querySet] {
        hash.add(word)
      }
      hash.add(stored.bytes)
      add(undo: stored.undo, to: &hash)
      return true
    }
    return hash.value
  }

  package static func add(_ texts: [Int64: String], to hash: inout Fingerprint) {
    for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
      hash.add(UInt64(bitPattern: key))
      hash.add(Array(text.utf8))
    }
  }

  /// Sorts the objects, because a changeset's undo has them in the order in which a step concerned them.
  private static func add(undo bytes: [UInt8], to hash: inout Fingerprint) {
    guard !bytes.isEmpty, var undo = try? Changeset(bytes: bytes) else { return hash.add(bytes) }
    func key(_ object: ObjectInstructions) -> Int64 {
      if case .int(let key) = object.id.key { key } else { .min }
    }
    undo.objects.sort { key($0) < key($1) }
    hash.add(undo.bytes)
  }
}
