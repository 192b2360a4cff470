import RealmStorage

/// Looks whether the file of a server is sound.
public enum SyncAppCheck {
  /// Reads the newest version of a file, and says in sentences what is wrong with it. It takes time in proportion to the file.
  ///
  /// - Throws: `StorageError` where the file can't be read.
  public static func problems(_ database: Database) throws(StorageError) -> [String] {
    IntegrityCheck.run(try database.snapshot()).findings.map(\.description)
  }
}
