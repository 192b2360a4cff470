/// Removals of rows, with their entries in indexes and the links from and to them.
extension TableWriter {
  /// Removes all dictionaries, after the last row was removed.
  private func removeDictionaries() throws(StorageError) {
    try dictionaries.removeAll()
    root.dictionaries = ColumnTrees()
  }

  /// Removes a row, with the embedded rows that it owns. Links to the row become null, but elements of sets, and of
  /// lists of links, are removed. Returns false if there is no such row.
  func remove(_ row: UInt64) throws(StorageError) -> Bool {
    let wasThere = try removeAlone(row)
    try tables.removeOrphans()
    return wasThere
  }

  /// Removes rows. Keys that have no row are ignored. Returns the number of rows that were removed, without owned
  /// embedded rows.
  func remove(_ rows: [UInt64]) throws(StorageError) -> Int {
    let removed = try removeAlone(rows)
    try tables.removeOrphans()
    return removed
  }

  /// Removes a row, but not the embedded rows that it owned. Returns false if there is no such row.
  private func removeAlone(_ row: UInt64) throws(StorageError) -> Bool {
    guard try contains(row) else { return false }
    do throws(StorageError) {
      try dropBuffer()
      if isReplaying { tables.replay?.remove(row, of: self) } else { try unlink([row]) }
      if isRecorded { try noteDeletion(of: [row]) }
      try removeEntries(of: row)
      clusters = try clusterChange.remove(row, from: root.clusters)
      guard root.rows > 0 else { throw editor.store.corrupted(.rows, root.clusters) }
      root.rows -= 1
      if root.rows == 0 { try removeDictionaries() }
    } catch {
      throw tables.fail(error)
    }
    return true
  }

  /// Removes rows, but not the embedded rows that they owned. Returns the number of rows that were removed.
  func removeAlone(_ rows: [UInt64]) throws(StorageError) -> Int {
    guard rows.count > Self.fewRows else {
      var removed = 0
      for row in rows where try removeAlone(row) { removed += 1 }
      return removed
    }
    var keys = rows
    keys.sortWithoutRepeats()
    do throws(StorageError) {
      try dropBuffer()
      guard !root.clusters.isNull else { return 0 }
      let set = NumberSet(keys)
      let areMany = UInt64(keys.count) >= root.rows / Self.entriesPerSearch
      if isReplaying { for key in keys { tables.replay?.remove(key, of: self) } }
      if !isReplaying, try !links.isEmpty() { try unlink(keys, from: set) }
      if isRecorded { try noteDeletion(of: keys) }
      try removeLinks(of: keys)
      if !areMany { try removeEntries(of: keys) }
      try dropBuffer()
      let (left, removed) = try clusterChange.remove(keys, set, from: clusters)
      guard removed > 0 else { return 0 }
      clusters = left
      if areMany { for index in indexes { try index.remove(rows: set) } }
      guard root.rows >= UInt64(removed) else { throw editor.store.corrupted(.rows, root.clusters) }
      root.rows -= UInt64(removed)
      if root.rows == 0 { try removeDictionaries() }
      return removed
    } catch {
      throw tables.fail(error)
    }
  }

  /// Up to this number of rows are removed one by one.
  private static let fewRows = 2
  /// If at least one in this number of rows is removed, each index is gone through whole, because removing one entry
  /// takes as long as looking at this number of entries.
  private static let entriesPerSearch: UInt64 = 256

  private func removeEntries(of keys: [UInt64]) throws(StorageError) {
    for index in indexes {
      for key in keys {
        if let value = try value(index.column, ofRow: key) { try index.remove(value, row: key) }
      }
    }
  }

  /// Removes the links from rows.
  private func removeLinks(of keys: [UInt64]) throws(StorageError) {
    for column in schema.columns where column.canLink {
      for key in keys {
        if let value = try value(column, ofRow: key) { try removeLinks(value, column, row: key) }
      }
    }
  }

  /// Removes all rows.
  ///
  /// - Parameter withLinks: whether the links from and to the rows are removed without being read, because all rows of
  ///   the tables at their other ends are removed, too.
  func removeAll(withLinks: Bool = false) throws(StorageError) {
    try flushRows()
    let hasLinks = try !links.isEmpty() || schema.columns.contains { $0.canLink }
    if isReplaying || (hasLinks && !withLinks && isRecorded) {
      _ = try remove(allKeys())
      return
    }
    if hasLinks, !withLinks {
      while root.rows > 0 {
        let key = try TableReading.key(at: root.rows - 1, in: root.clusters, editor.access())
        _ = try remove(key)
      }
      return
    }
    if isRecorded { try noteDeletion(of: allKeys(), all: true) }
    do throws(StorageError) {
      buffer = nil
      dropCollections()
      try editor.freeTree(root.clusters)
      clusters = .null
      root.rows = 0
      try removeDictionaries()
      try links.removeAll()
      for index in indexes { try index.removeAll() }
    } catch {
      throw tables.fail(error)
    }
  }

  private func removeEntries(of row: UInt64) throws(StorageError) {
    for column in schema.columns where column.index != .none || column.canLink {
      guard let value = try value(column, ofRow: row) else { continue }
      if column.canLink { try removeLinks(value, column, row: row) }
      if let index = index(of: column) {
        try index.remove(value, row: row)
      }
    }
  }
}
