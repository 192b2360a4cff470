import RealmStorage

/// Looks whether the file of a server is sound.
public enum SyncAppCheck {
  /// What is wrong with the newest version of a file, in sentences. Reads all of it.
  ///
  /// - Throws: `StorageError` where the file can't be read.
  public static func problems(_ database: Database) throws(StorageError) -> [String] {
    IntegrityCheck.run(try database.snapshot()).findings.map(\.description)
  }
}
