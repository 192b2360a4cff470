import RealmStorage
import RealmSync

/// The changesets of a file that are not known to be decided, as a transaction reads and changes them.
final class PendingChangesets {
  private let transaction: WriteTransaction
  private let changelog: StoredChangelog
  /// The ids of tables, by which objects are looked up.
  private var tables: [String: UInt32] = [:]
  private var read: [UInt64: Pending] = [:]
  private var changed: Set<UInt64> = []
  private var search: ChangesetSearch?

  /// A changeset, in a form that finds the instructions of an object.
  struct Pending {
    var stored: StoredChangeset
    private(set) var changeset: Changeset
    /// The changeset that undoes this one. The instructions of an object are carried out from the last to the first.
    var undo: Changeset
    /// True if the changeset differs from the one in the file.
    private(set) var isRewritten = false
    private let places: [ObjectName: Int]
    private var undoPlaces: [ObjectName: Int]

    /// - Parameter value: reads a long value, which stands apart from the changeset, by its hash.
    init?(_ stored: StoredChangeset, _ value: ([UInt8]) throws(StorageError) -> [UInt8]?) throws(StorageError)
    {
      guard let changeset = try (try? Changeset(bytes: stored.bytes))?.withLongValues(value),
        let undo = stored.undo.isEmpty ? Changeset() : try? Changeset(bytes: stored.undo)
      else { return nil }
      (self.stored, self.changeset, self.undo) = (stored, changeset, undo)
      places = Self.places(changeset)
      undoPlaces = Self.places(undo)
    }

    private static func places(_ changeset: Changeset) -> [ObjectName: Int] {
      var places: [ObjectName: Int] = [:]
      for (place, object) in changeset.objects.enumerated() { places[object.id] = place }
      return places
    }

    func instructions(of object: ObjectName) -> [Instruction] {
      places[object].map { changeset.objects[$0].instructions } ?? []
    }

    /// The instructions that undo what the changeset does to an object, in the order in which they are to be carried
    /// out.
    func undo(of object: ObjectName) -> [Instruction] {
      let told = undoPlaces[object].map { undo.objects[$0].instructions.reversed() as [Instruction] } ?? []
      let isMade = !stored.isUndoComplete && instructions(of: object).contains(.create)
      return isMade ? [.delete] + told : told
    }

    mutating func setInstructions(_ instructions: [Instruction], of object: ObjectName) {
      guard let place = places[object] else { return }
      changeset.objects[place].instructions = instructions
      isRewritten = true
    }

    /// Puts definitions before everything else in the changeset.
    mutating func define(_ schema: [SchemaInstruction]) {
      guard !schema.isEmpty else { return }
      changeset.schema = schema + changeset.schema
      isRewritten = true
    }

    /// - Parameter instructions: the instructions in the order in which they are to be carried out.
    mutating func setUndo(_ instructions: [Instruction], of object: ObjectName) {
      completeUndo()
      put(instructions.reversed(), object)
    }

    /// Adds the removal of the created objects to the undo.
    private mutating func completeUndo() {
      guard !stored.isUndoComplete else { return }
      for object in changeset.objects where object.instructions.contains(.create) {
        put(undo(of: object.id).reversed(), object.id)
      }
      stored.isUndoComplete = true
    }

    private mutating func put(_ instructions: [Instruction], _ object: ObjectName) {
      if let place = undoPlaces[object] {
        undo.objects[place].instructions = instructions
      } else {
        undoPlaces[object] = undo.objects.count
        undo.objects.append(ObjectInstructions(object, instructions))
      }
    }
  }

  init?(_ transaction: WriteTransaction) throws(StorageError) {
    guard let changelog = try transaction.changesets() else { return nil }
    (self.transaction, self.changelog) = (transaction, changelog)
  }

  var state: ChangelogState { changelog.state }

  /// The sequences of the changesets that change an object, in ascending order.
  func sequences(of object: ObjectName) throws(StorageError) -> [UInt64] {
    if tables[object.table] == nil { tables[object.table] = try transaction.table(object.table)?.schema.id }
    guard let table = tables[object.table] else { return [] }
    var found: [UInt64] = []
    if search == nil { search = try changelog.search(transaction) }
    for sequence in search?.sequences(of: object, table: table) ?? [] {
      // Another object may have the same hash of its name.
      guard found.last != sequence, try pending(sequence)?.instructions(of: object).isEmpty == false else {
        continue
      }
      found.append(sequence)
    }
    return found
  }

  func pending(_ sequence: UInt64) throws(StorageError) -> Pending? {
    if let known = read[sequence] { return known }
    guard let stored = try changelog.changeset(sequence, transaction) else { return nil }
    let found = try Pending(stored) { (hash) throws(StorageError) in
      try changelog.chunk(hash, of: sequence, transaction)
    }
    guard let found else { throw try transaction.tree(ClientPosition.tree).damaged }
    read[sequence] = found
    return found
  }

  /// True if there is a changeset.
  func hasAny() throws(StorageError) -> Bool {
    var found = false
    try changelog.forEach(transaction) { _ in
      found = true
      return false
    }
    return found
  }

  /// All sequences, in ascending order.
  func sequences() throws(StorageError) -> [UInt64] {
    var found: [UInt64] = []
    try changelog.forEach(transaction) {
      found.append($0.sequence)
      return true
    }
    return found
  }

  /// The objects with pending changes. Takes time and memory in proportion to the changes.
  func objects() throws(StorageError) -> Set<ObjectName> {
    var found: Set<ObjectName> = []
    for sequence in try sequences() {
      for object in try pending(sequence)?.changeset.objects ?? [] { found.insert(object.id) }
    }
    return found
  }

  func setUndo(_ instructions: [Instruction], of object: ObjectName, in sequence: UInt64) {
    read[sequence]?.setUndo(instructions, of: object)
    changed.insert(sequence)
  }

  func setInstructions(_ instructions: [Instruction], of object: ObjectName, in sequence: UInt64) {
    read[sequence]?.setInstructions(instructions, of: object)
    changed.insert(sequence)
  }

  func define(_ schema: [SchemaInstruction], in sequence: UInt64) throws(StorageError) {
    _ = try pending(sequence)
    read[sequence]?.define(schema)
    changed.insert(sequence)
  }

  /// Gives a changeset another query set.
  func set(querySet: UInt64, of sequence: UInt64) throws(StorageError) {
    _ = try pending(sequence)
    read[sequence]?.stored.querySet = querySet
    changed.insert(sequence)
  }

  /// Gives a changeset another base and stamp.
  func set(base: UInt64, stamp: Stamp, of sequence: UInt64) throws(StorageError) {
    _ = try pending(sequence)
    read[sequence]?.stored.base = base
    read[sequence]?.stored.stamp = stamp
    changed.insert(sequence)
  }

  /// Writes the changed changesets back into the file, except those up to a sequence, which are about to be removed.
  func store(above sequence: UInt64) throws(StorageError) {
    for changed in changed.sorted() where changed > sequence {
      guard var pending = read[changed] else { continue }
      pending.stored.undo = pending.undo.objects.isEmpty ? [] : pending.undo.bytes
      if pending.isRewritten { pending.stored.bytes = pending.changeset.bytes }
      try transaction.replace(pending.stored, hasLongValues: pending.isRewritten)
    }
    changed.removeAll()
  }
}
