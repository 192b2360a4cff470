import RealmStorage

/// Writes the objects of a version into a new file: of a file that is not synced into one that is, or the reverse.
package enum RecordedCopy {
  /// What a program writes first of all in a file can be uploaded with this query set. A file that has none keeps what names it until it has one.
  private static let firstQuerySet = ClientFile.partitionQuerySet

  /// Writes them into a file that is synced, as changes that a server is to be told. They wait until the file has subscriptions, or until it is registered with a
  /// partition.
  ///
  /// - Parameters:
  ///   - source: of a file that is not synced.
  ///   - path: where there is no file yet. It appears there at once and whole, or not at all.
  ///   - origin: the path of the file whose mode it gets.
  ///   - left: the names of tables that are left out.
  /// - Throws: `.system` with `EEXIST` where there is a file already; what `ObjectCopy` throws.
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

  /// The same with a file that is there.
  ///
  /// - Parameter database: of a synced file without tables.
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

  /// Writes them into a file that is not synced.
  ///
  /// - Parameters:
  ///   - source: of a file that is synced.
  ///   - path: where there is no file yet. It appears there at once and whole, or not at all.
  ///   - origin: the path of the file whose mode it gets.
  ///   - schemaVersion: that the file has then.
  ///   - columns: answers the columns of a table that are copied, its primary key among them.
  /// - Throws: `.system` with `EEXIST` where there is a file already; what `ObjectCopy` throws.
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
