import RealmStorage

/// Checks whether the file of a server is sound.
public enum SyncAppCheck {
  /// Reads the newest version of a file, and returns sentences that say what is wrong with it. It takes time in
  /// proportion to the size of the file.
  ///
  /// - Throws: `StorageError` if the file can't be read.
  public static func problems(_ database: Database) throws(StorageError) -> [String] {
    IntegrityCheck.run(try database.snapshot()).findings.map(\.description)
  }
}
