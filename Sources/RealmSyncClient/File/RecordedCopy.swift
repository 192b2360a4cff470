import RealmStorage

/// Writes the objects of a version into a new file: from an unsynced file into a synced one, or the reverse.
package enum RecordedCopy {
  /// The query set that the first changes of such a file name, so that they can be uploaded with it. A file without
  /// that set keeps the changes until it has the set.
  private static let firstQuerySet = ClientFile.partitionQuerySet

  /// Writes the objects into a new synced file, as changes that a server has to be told. The changes wait until the
  /// file has subscriptions, or until it is registered with a partition.
  ///
  /// - Parameters:
  ///   - source: a version of an unsynced file.
  ///   - path: the path of the new file. There must be no file yet. The file appears there at once and whole, or not at
  ///     all.
  ///   - origin: the path of the file whose mode the new file gets.
  ///   - left: the names of the tables that are left out.
  /// - Throws: `.system` with `EEXIST` if there is a file already; what `ObjectCopy` throws.
  package static func writeSynced(
    _ source: Snapshot, to path: String, like origin: String, encryptionKey: [UInt8]?,
    leavingOut left: Set<String> = []
  ) throws(StorageError) {
    var options = DatabaseOptions(encryptionKey: encryptionKey)
    options.history = .synced
    try Database.make(at: path, like: origin, options: options) { (database) throws(StorageError) in
      try fill(database, with: source, leavingOut: left)
    }
  }

  /// Writes the objects into a synced file that exists already.
  ///
  /// - Parameter database: the database of a synced file without tables.
  package static func fill(
    _ database: Database, with source: Snapshot, limits: ObjectCopy.Limits = ObjectCopy.Limits(),
    leavingOut left: Set<String> = []
  ) throws(StorageError) {
    try change(database) { (transaction) throws(StorageError) in
      try transaction.changeChangelogState { $0.querySet = firstQuerySet }
    }
    try ObjectCopy.run(source, to: database, limits: limits) { schema in
      left.contains(schema.name) ? nil : schema.properties
    }
    let version = try source.schemaVersion()
    try change(database) { (transaction) throws(StorageError) in
      try transaction.changeChangelogState { $0.querySet = 0 }
      try transaction.setSchemaVersion(version)
    }
  }

  /// Writes the objects into a new unsynced file.
  ///
  /// - Parameters:
  ///   - source: a version of a synced file.
  ///   - path: the path of the new file. There must be no file yet. The file appears there at once and whole, or not at
  ///     all.
  ///   - origin: the path of the file whose mode the new file gets.
  ///   - schemaVersion: the schema version of the new file.
  ///   - columns: returns the columns of a table that are copied, its primary key among them.
  /// - Throws: `.system` with `EEXIST` if there is a file already; what `ObjectCopy` throws.
  package static func writeLocal(
    _ source: Snapshot, to path: String, like origin: String, encryptionKey: [UInt8]?,
    schemaVersion: UInt64, columns: (TableSchema) -> [Column]
  ) throws(StorageError) {
    let options = DatabaseOptions(encryptionKey: encryptionKey)
    try Database.make(at: path, like: origin, options: options) { (database) throws(StorageError) in
      try ObjectCopy.run(source, to: database) { columns($0) }
      try change(database) { (transaction) throws(StorageError) in
        try transaction.setSchemaVersion(schemaVersion)
      }
    }
  }

  private static func change(
    _ database: Database, _ body: (WriteTransaction) throws(StorageError) -> Void
  ) throws(StorageError) {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    try body(transaction)
    try transaction.commit()
  }
}
