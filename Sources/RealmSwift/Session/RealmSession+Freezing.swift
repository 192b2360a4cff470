import RealmStorage

extension RealmSession {
  /// The frozen session of the version that it reads; in a transaction, of that which the transaction began with.
  ///
  /// - Parameter namesOnly: the version is left out: the session only names objects.
  func frozen(namesOnly: Bool = false) -> SessionLife {
    check()
    if isFrozen, !namesOnly { return life }
    let version =
      namesOnly
      ? nil
      : reading { () throws(StorageError) in
        // Nobody else has committed since the transaction began.
        try transaction == nil ? currentSnapshot() : file.database.snapshot()
      }
    return file.frozenSession(version, schema, view.configuration)
  }

  /// The number of the version that it reads; in a transaction, of that which the transaction began with.
  func versionNumber() -> UInt64 {
    reading { () throws(StorageError) in
      try transaction == nil ? currentSnapshot().version : file.database.version
    }
  }
}
