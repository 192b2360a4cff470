/// Changing the type of a column. The column keeps its id, because its values are the old values in another form.
extension TableWriter {
  /// Gives the column at a position another type. Each cluster that has the column is written once. A cluster that
  /// lacks the column is written only if its rows would otherwise not have their converted values.
  ///
  /// - Parameter convert: returns the new value for an old value. A collection is converted as a whole. It must not use
  ///   the table.
  /// - Precondition: the column's index, if it has one, is allowed for the type; the values that `convert` returns fit
  ///   the column.
  func changeType(
    at position: Int, to type: ColumnType, isOptional: Bool, target: UInt32, _ convert: (Value) -> Value
  ) throws(StorageError) {
    let old = schema.columns[position]
    // Absent links fit only the old type.
    if let companion = schema.position(of: .absentLinks(of: old.id)) { try drop(at: companion) }
    do throws(StorageError) {
      try dropBuffer()
      if old.canLink { try removeLinks(of: old) }
      if old.index != .none { try removeIndex(of: old) }
      let hasIDs = schema.position(of: .elementIDs(of: old.id)) != nil
      // The stored values are read with the old column, and clusters are written with the new schema.
      let (rows, dictionaries) = (root.clusters, root.dictionaries)
      try changeSchema {
        $0.changeType(at: position, to: type, isOptional: isOptional, target: target, convert)
      }
      let new = schema.columns[position]
      clusters = try KeyedTree.updateAll(in: rows, editor: editor, spills: true) {
        [clusterChange, nestedIDs] (leaf) throws(StorageError) in
        try clusterChange.changeType(of: old, to: new, leaf, dictionaries) {
          let value = convert($0)
          precondition(
            !hasIDs || value.elements?.count == $0.elements?.count,
            "\(schema.name).\(new.name): its elements have ids, so a list is converted to one of as many elements"
          )
          precondition(
            new.accepts(value), "\(schema.name).\(new.name): a value was converted to one that does not fit")
          return nestedIDs.identify(value, of: new)
        }
      }
      try self.dictionaries.remove(of: old)
      root.dictionaries[old.id] = .null
      if new.canLink { try addLinks(of: new) }
    } catch {
      throw tables.fail(error)
    }
    if old.index != .none { try fillIndex(of: schema.columns[position]) }
    if old.index == .unique { try resolveAllAbsentLinks() }
    try tables.removeOrphans()
  }

  private func addLinks(of column: Column) throws(StorageError) {
    for key in try allKeys() {
      guard let value = try value(column, ofRow: key) else { continue }
      for target in value.linkTargets(of: column) {
        // A damaged file may have links that lead nowhere.
        guard try tables.writer(id: target.table)?.contains(target.row) == true else {
          throw editor.store.corrupted(.link, clusters)
        }
      }
      try addLinks(value, column, row: key)
    }
  }
}

extension ClusterChange {
  /// Writes a cluster with converted values in a column; nil if it lacks the column and its rows have the converted
  /// values without it.
  fileprivate func changeType(
    of old: Column, to new: Column, _ leaf: Ref, _ dictionaries: ColumnTrees, _ convert: (Value) -> Value
  ) throws(StorageError) -> [KeyedChild]? {
    var cluster = try Cluster(leaf, editor.access())
    guard cluster.has(old) || convert(old.absentValue) != new.absentValue else { return nil }
    let values = try converted(old, leaf, dictionaries, convert)
    for piece in cluster.pieces(old) ?? [] { try editor.freeTree(piece.ref) }
    for tree in cluster.trees(old) { try editor.freeTree(tree.ref) }
    cluster.remove(old)
    try store(values, as: new, in: &cluster)
    return try replace(leaf, by: cluster)
  }

  private func converted(
    _ column: Column, _ leaf: Ref, _ dictionaries: ColumnTrees, _ convert: (Value) -> Value
  ) throws(StorageError) -> [Value] {
    // This access ends with the function, so that decrypted nodes can leave the cache afterwards.
    let access = editor.access()
    let node = ClusterNode(try access.node(leaf, .cluster))
    var values: [Value] = []
    values.reserveCapacity(node.rows)
    for row in 0..<node.rows {
      values.append(convert(try TableReading.value(column, row, of: node, dictionaries.view, access)))
    }
    return values
  }
}
