/// A version that is kept by name: see `Database.keepVersion(named:)`.
public struct NamedVersion: Sendable, Equatable {
  public var name: String
  public var version: UInt64
  /// When it was named, in seconds since 1970.
  public var since: UInt64
  /// It is kept no longer: more was kept by names than `DatabaseOptions.namedVersionLimit` allows, and it was the oldest.
  public var isEnded: Bool
}

/// Versions that are kept by name: in the file, for all who open it, whatever happens to the process that named them.
extension Database {
  /// Keeps the newest committed version, with all that it holds, until the name is dropped or leads to another version. It is
  /// made durable first.
  ///
  /// A version that had the name is not kept any more: the name moves in one commit. What a named version needs and newer ones
  /// do not is kept in the file meanwhile; see `DatabaseOptions.namedVersionLimit`, `pinnedVersions()`.
  ///
  /// Costs a small commit, and a sync where the newest version is not durable yet.
  ///
  /// - Parameter name: 1 to 247 bytes of UTF-8.
  /// - Returns: the number of the version that is kept; the name itself stands in the version after it.
  /// - Precondition: this thread has no open transaction on the same database: it would wait for itself.
  /// - Throws: what `beginWrite` and `WriteTransaction.commit` throw; `.limitExceeded` for a name that is empty or too long, and
  ///   where 1000 versions are named. The name leads then to what it led to before.
  @discardableResult
  public func keepVersion(named name: String) throws(StorageError) -> UInt64 {
    try keep(nil, named: name)
  }

  /// Keeps the version of a snapshot of this database; see `keepVersion(named:)`.
  ///
  /// - Throws: `.snapshotExpired` where it can't be told whether the version is on the disk, after a sync that failed or whose
  ///   outcome nobody has seen.
  /// - Precondition: the snapshot was taken of this object.
  public func keepVersion(of snapshot: Snapshot, named name: String) throws(StorageError) {
    precondition(
      snapshot.database === self,
      "Database.keepVersion(of:named:): the snapshot was taken of another Database; take one of this")
    _ = try keep(snapshot, named: name)
  }

  private func keep(_ snapshot: Snapshot?, named name: String) throws(StorageError) -> UInt64 {
    let transaction = try beginOnDurable()
    defer { transaction.cancel() }
    let version = snapshot?.base ?? transaction.base
    if let snapshot {
      // All that is pinned, older than D and lost by no sync was synced with D, or before.
      guard !held.isExpired(version.number, seen: snapshot.failures), !held.block.isUnsure(version.number),
        version.number <= transaction.base.number
      else { throw .snapshotExpired(path: path) }
    }
    try transaction.changeCatalogue(added: 1) { (catalogue, editor) throws(StorageError) in
      let kept = VersionSlots.Kept(version, since: Clock.now / 1_000_000_000)
      try VersionSlots.set(kept, for: name, in: &catalogue, editor)
    }
    try transaction.commit(.full)
    return version.number
  }

  /// Begins a transaction on a version that is durable, and published.
  private func beginOnDurable() throws(StorageError) -> WriteTransaction {
    while true {
      let transaction = try beginWrite { (writer) throws(StorageError) in try writer.gate.makeDurable() }
      if transaction.base.number == held.block.durable.number { return transaction }
      // Another process had the lock in between.
      transaction.cancel()
    }
  }

  /// Keeps no version by that name any more. What only that version needed is free once that is durable and no snapshot of it is
  /// held. Costs a small commit.
  ///
  /// What the version holds is not read, so that one that is damaged can be dropped.
  ///
  /// - Parameter durability: after a relaxed one power loss may bring the name back, with its version.
  /// - Returns: whether there was one.
  /// - Precondition: as `keepVersion(named:)`.
  /// - Throws: what `beginWrite` and `WriteTransaction.commit` throw.
  @discardableResult
  public func dropVersion(
    named name: String, durability: Durability = .full
  ) throws(StorageError) -> Bool {
    let transaction = try beginWrite()
    defer { transaction.cancel() }
    var wasThere = false
    try transaction.changeCatalogue(added: -1) { (catalogue, editor) throws(StorageError) in
      wasThere = try VersionSlots.remove(name, from: &catalogue, editor)
    }
    guard wasThere else { return false }
    try transaction.commit(durability)
    return true
  }

  /// The versions that are kept by name, in the order of their names: those that the newest published version has.
  ///
  /// - Throws: what `snapshot` throws; `.corrupted`.
  public func namedVersions() throws(StorageError) -> [NamedVersion] { try snapshot().namedVersions() }

  /// The version that is kept by a name, held until the snapshot is released, also when the name is dropped meanwhile. Never
  /// waits.
  ///
  /// - Returns: nil where no version has that name.
  /// - Throws: what `snapshot()` throws; `.versionEnded` where it was given up; `.corrupted`; `.truncated`.
  public func snapshot(named name: String) throws(StorageError) -> Snapshot? {
    var newest = try snapshot()
    while let kept = try newest.keptVersion(named: name) {
      guard !kept.isEnded else {
        throw .versionEnded(name: name, version: kept.version.number, path: path)
      }
      let failures = newest.failures
      try held.pin(named: kept.version)
      let named = Snapshot(database: self, version: kept.version, failures: failures)
      // Before it was pinned the name may have been dropped.
      newest = try snapshot()
      guard try newest.keptVersion(named: name)?.version == kept.version else { continue }
      let length = try store.storage.length()
      guard length >= kept.version.end else {
        throw .truncated(path: path, length: length, needed: kept.version.end)
      }
      try store.reserve(kept.version.end)
      return named
    }
    return nil
  }
}

extension Snapshot {
  /// The versions that this one keeps by name.
  ///
  /// - Throws: `.corrupted`.
  package func namedVersions() throws(StorageError) -> [NamedVersion] {
    let access = access()
    let catalogue = try Catalogue(root, access)
    var versions: [NamedVersion] = []
    for slot in try VersionSlots.all(catalogue, before: version, access) {
      guard let kept = slot.kept else {
        throw access.corruptedSlot(ofVersion: slot.name, catalogue.namedSlots)
      }
      versions.append(
        NamedVersion(
          name: slot.name, version: kept.version.number, since: kept.since, isEnded: kept.isEnded))
    }
    return versions
  }

  fileprivate func keptVersion(named name: String) throws(StorageError) -> VersionSlots.Kept? {
    let access = access()
    let catalogue = try Catalogue(root, access)
    guard let slot = try VersionSlots.find(name, catalogue, before: version, access) else { return nil }
    guard let kept = slot.kept else { throw access.corruptedSlot(ofVersion: name, catalogue.namedSlots) }
    return kept
  }
}
