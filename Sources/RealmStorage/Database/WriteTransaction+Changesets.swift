/// Changes of a synced file that are not the program's own.
extension WriteTransaction {
  /// Does to objects what instructions say, without recording it: what was decided elsewhere.
  ///
  /// - Throws: `.instructionDoesNotFit`, `.limitExceeded`, `.corrupted`. The transaction can't be committed then.
  package func apply(_ objects: [ObjectInstructions]) throws(StorageError) {
    let editor = ObjectEditor(tables: try tables())
    // Links find what is made with them: within lists and maps that stand in a value none waits.
    for object in objects where object.instructions.first == .create {
      try editor.apply(ObjectInstructions(object.id, [.create]))
    }
    for object in objects { try editor.apply(object) }
  }

  /// Calls `body`, which makes objects. Links that wait for them take their places when it has ended: a collection with many such links is read and written once, and not for each object. No object is being edited
  /// then.
  ///
  /// - Throws: `.corrupted`; what `body` throws.
  package func gatheringObjects<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try tables().gatheringRows(body)
  }

  /// How many elements and links were looked at to edit lists, sets and maps of links, in this transaction.
  ///
  /// - Throws: `.corrupted`.
  package var elementSteps: Int {
    get throws(StorageError) { try tables().elementSteps }
  }

  /// The object of a name, which may not be there, to be changed by what was decided elsewhere.
  ///
  /// - Throws: `.instructionDoesNotFit` where there is no such table, or the key is none of its keys; `.corrupted`.
  package func object(_ name: ObjectName) throws(StorageError) -> EditedObject {
    try EditedObject(name, ObjectEditor(tables: try tables()))
  }

  /// The names of all objects, class by class. Takes time and memory in proportion to them.
  ///
  /// - Parameter classes: nil of all classes.
  /// - Throws: `.corrupted`.
  package func objectNames(in classes: Set<String>? = nil) throws(StorageError) -> [ObjectName] {
    var names: [ObjectName] = []
    for schema in try schemas() where !schema.isEmbedded && classes?.contains(schema.name) ?? true {
      guard let key = schema.primaryKey, let table = try table(schema.name)?.reading() else { continue }
      var rows: [UInt64] = []
      try table.forEach { (row, _) in
        rows.append(row)
        return true
      }
      for row in rows {
        if let value = try table.value(key, ofRow: row) { names.append(ObjectName(schema.name, value)) }
      }
    }
    return names
  }

  /// Calls `body`, whose changes are not recorded for others: they were decided elsewhere.
  package func unrecorded<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    try tables().knowing(body)
  }

  /// Undoes a changeset of this file, that all later ones were undone before.
  ///
  /// - Throws: `.corrupted`; what `apply` throws.
  package func undo(_ stored: StoredChangeset) throws(StorageError) {
    guard let changeset = try? Changeset(bytes: stored.bytes),
      let undo = stored.undo.isEmpty ? Changeset() : try? Changeset(bytes: stored.undo)
    else { throw access().corrupted(.structure, root) }
    if !stored.isUndoComplete {
      let made = changeset.objects.filter { $0.instructions.contains(.create) }
      try apply(made.map { ObjectInstructions($0.id, [.delete]) })
    }
    try apply(undo.objects.map { ObjectInstructions($0.id, $0.instructions.reversed()) })
  }

  /// Forgets the changesets up to one: a server has them, and what it made of them was applied. They can't be undone any more. Takes time in proportion to them.
  ///
  /// - Throws: `.corrupted`.
  package func acknowledge(upTo sequence: UInt64) throws(StorageError) {
    _ = try tables()
    try changelog?.maker.acknowledge(upTo: sequence)
  }

  /// The changesets that no server has acknowledged, as changed so far; nil of a file that is not synced. What the transaction itself writes is not among them before it is committed.
  ///
  /// - Throws: `.corrupted`.
  package func changesets() throws(StorageError) -> StoredChangelog? {
    _ = try tables()
    return changelog?.maker.changelog
  }

  /// Puts a changeset in the place of the one of its sequence, with another base, stamp or undo.
  ///
  /// - Parameter hasLongValues: it was written anew, and its long values stand in it.
  /// - Throws: `.corrupted`.
  package func replace(_ changeset: StoredChangeset, hasLongValues: Bool = false) throws(StorageError) {
    _ = try tables()
    try changelog?.maker.replace(changeset, hasLongValues: hasLongValues)
  }

  /// Tells others of definitions that the file has already.
  ///
  /// - Throws: `.corrupted`.
  package func record(_ schema: [SchemaInstruction]) throws(StorageError) {
    _ = try tables()
    for instruction in schema { try changelog?.maker.add(instruction) }
  }

  /// The instructions that define all tables and their properties.
  ///
  /// - Throws: `.corrupted`.
  package func definitions() throws(StorageError) -> [SchemaInstruction] {
    var made: [SchemaInstruction] = []
    let schemas = try schemas()
    func definition(_ column: Column, of schema: TableSchema) -> PropertyDefinition {
      var target: String?
      if column.type == .link {
        target = schemas.first { $0.id == (column.target == 0 ? schema.id : column.target) }?.name
      }
      return PropertyDefinition(
        column.name, column.type, collection: column.collection.kind, target: target,
        isOptional: column.isOptional)
    }
    for schema in schemas {
      made.append(.addTable(schema.name, key: schema.primaryKey.map { definition($0, of: schema) }))
    }
    for schema in schemas {
      for column in schema.properties where column.index != .unique {
        made.append(.addProperty(table: schema.name, definition(column, of: schema)))
      }
    }
    return made
  }

  /// Changes what the file knows beside its changesets: where it stands in the log, its clock, its number.
  ///
  /// - Throws: `.corrupted`.
  package func changeChangelogState(_ change: (inout ChangelogState) -> Void) throws(StorageError) {
    _ = try tables()
    guard let maker = changelog?.maker else { return }
    change(&maker.state)
  }

  /// Sets the time that the changesets of the transaction are made at, in place of that of the machine.
  ///
  /// - Parameter time: in milliseconds since 1970.
  package func setTime(_ time: UInt64) throws(StorageError) {
    _ = try tables()
    changelog?.maker.time = time
  }

  /// Whether what is written is recorded for other files.
  var isSynced: Bool {
    get throws(StorageError) {
      _ = try tables()
      return changelog != nil
    }
  }
}
