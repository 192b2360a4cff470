/// Setting values of existing rows.
extension TableWriter {
  /// Sets the value of the column at a position in the schema. Returns false if there is no such row.
  ///
  /// - Precondition: the value fits the column.
  func set(_ value: Value, at position: Int, ofRow row: UInt64) throws(StorageError) -> Bool {
    let isThere: Bool
    if let companions = companions(of: position) {
      isThere = try set(value, ofRow: row, companions)
    } else {
      isThere = try setOne(value, at: position, ofRow: row)
    }
    try tables.removeOrphans()
    return isThere
  }

  /// Sets a value, but leaves the companions of the cell, and embedded rows that have lost their owner, as they are.
  /// Returns false if there is no such row.
  func setOne(_ value: Value, at position: Int, ofRow row: UInt64) throws(StorageError) -> Bool {
    isRecorded
      ? try setTold(value, at: position, ofRow: row) : try setAlone(value, at: position, ofRow: row)
  }

  /// Sets a value like `setOne`, and reports the change to the recorder.
  private func setTold(_ value: Value, at position: Int, ofRow row: UInt64) throws(StorageError) -> Bool {
    let column = schema.columns[position]
    guard let old = try self.value(column, ofRow: row) else { return false }
    guard old != value else { return true }
    let value = nestedIDs.identify(value, of: column)
    _ = try setAlone(value, at: position, ofRow: row, isNew: false)
    try note(.set(value, CellPlace(row: row, column: column.id)), before: .value(old))
    return true
  }

  /// Sets a value without reporting it, because it was or will be reported as another change.
  ///
  /// - Parameter isNew: see `change`.
  func setAlone(
    _ value: Value, at position: Int, ofRow row: UInt64, isNew: Bool = true
  ) throws(StorageError) -> Bool {
    // In most cases only the value's bytes are replaced. Then the column itself is not copied.
    let form = forms[position]
    if form.isPlain, form.acceptsOne(value), try replace(value, form, ofRow: row) { return true }
    precondition(
      schema.columns[position].accepts(value),
      "\(schema.name).\(schema.columns[position].name) is of type \(schema.columns[position].type) and can't hold that "
        + "value")
    return try change(value, schema.columns[position], ofRow: row, isNew: isNew)
  }

  /// Sets a value without reporting it, and leaves embedded rows that have lost their owner. Returns false if there is
  /// no such row.
  func setUntold(_ value: Value, _ column: Column, ofRow row: UInt64) throws(StorageError) -> Bool {
    let form = ColumnForm(column)
    if form.isPlain, try replace(value, form, ofRow: row) { return true }
    return try change(value, column, ofRow: row, isNew: false)
  }

  /// Sets a value, and changes the index, the links and what else depends on it.
  ///
  /// - Parameter isNew: whether the lists and maps in a mixed value are new ones, which get ids. Otherwise they have
  ///   their ids already.
  private func change(
    _ value: Value, _ column: Column, ofRow row: UInt64, isNew: Bool
  ) throws(StorageError) -> Bool {
    guard let old = try self.value(column, ofRow: row) else { return false }
    // Lists and maps that only change places may be equal.
    guard old != value || (!isNew && column.type == .mixed) else { return true }
    let value = isNew ? nestedIDs.identify(value, of: column) : value
    if column.index == .unique { try checkUnique(value, column, nil) }
    do throws(StorageError) {
      try dropBuffer()
      if let index = index(of: column) {
        try index.remove(old, row: row)
        try index.insert(value, row: row)
      }
      if column.canLink { try changeLinks(from: old, to: value, column, row: row) }
      clusters = try clusterChange.set(value, column, ofRow: row, in: root.clusters)
      if column.index == .unique, !absentLinks.isEmpty {
        try resolveAbsentLinks(to: row, withPrimaryKey: value)
      }
    } catch {
      throw tables.fail(error)
    }
    return true
  }

  /// Sets a value by writing only the value's own bytes into the row's cluster. Returns false if more would change, or if the row
  /// is not only in the tree.
  private func replace(_ value: Value, _ column: ColumnForm, ofRow row: UInt64) throws(StorageError) -> Bool {
    guard isInTree(row), !clusters.isNull else { return false }
    if let lastChanged, lastChanged.keys.contains(row) {
      return ClusterChange.replace(value, column, ofRow: row, in: lastChanged, editor)
    }
    guard
      let (root, cluster) = try ClusterChange.replace(value, column, ofRow: row, in: clusters, editor)
    else { return false }
    clusters = root
    lastChanged = cluster
    return true
  }

  /// Whether the tree has the row's cluster in its newest state, and no buffer has it. A buffer that has it unchanged is dropped.
  private func isInTree(_ row: UInt64) -> Bool {
    guard full.isEmpty else { return false }
    guard let buffer, let first = buffer.keys.first, row >= first else { return true }
    guard !buffer.isChanged else { return false }
    self.buffer = nil
    return true
  }

  var clusterChange: ClusterChange {
    ClusterChange(
      schema: schema, dictionaries: dictionaries, codeLimit: Int(clamping: max(root.rows, UInt64(rowLimit))),
      editor: editor)
  }
}
