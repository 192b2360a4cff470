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

  /// Undoes a changeset of this file, that all later ones were undone before.
  ///
  /// - Throws: `.corrupted`; what `apply` throws.
  package func undo(_ stored: StoredChangeset) throws(StorageError) {
    guard let changeset = try? Changeset(bytes: stored.bytes),
      let undo = stored.undo.isEmpty ? Changeset() : try? Changeset(bytes: stored.undo)
    else { throw access().corrupted(.structure, root) }
    let made = changeset.objects.filter { $0.instructions.contains(.create) }
    try apply(made.map { ObjectInstructions($0.id, [.delete]) })
    try apply(undo.objects.map { ObjectInstructions($0.id, $0.instructions.reversed()) })
  }

  /// Forgets the changesets up to one: a server has them, and what it made of them was applied. They can't be undone any more. Takes time in proportion to them.
  ///
  /// - Throws: `.corrupted`.
  package func acknowledge(upTo sequence: UInt64) throws(StorageError) {
    _ = try tables()
    try changelog?.maker.acknowledge(upTo: sequence)
  }

  /// Whether what is written is recorded for other files.
  var isSynced: Bool {
    get throws(StorageError) {
      _ = try tables()
      return changelog != nil
    }
  }
}
