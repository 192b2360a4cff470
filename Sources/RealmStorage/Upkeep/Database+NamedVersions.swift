/// A version that is kept by name: see `Database.keepVersion(named:)`.
public struct NamedVersion: Sendable, Equatable {
  /// The name.
  public var name: String
  /// The number of the version.
  public var version: UInt64
  /// When it was named, in seconds since 1970.
  public var since: UInt64
  /// Whether the version was ended and can't be read any more: named versions needed more space than
  /// `DatabaseOptions.namedVersionLimit` allows, and it was the oldest.
  public var isEnded: Bool
}

/// Versions that are kept by name. They are kept in the file, for all processes, also after the process that named them has
/// ended.
extension Database {
  /// Keeps the newest committed version under a name, until the name is dropped or moved to another version. The version is made
  /// durable first.
  ///
  /// If another version had the name, that version is no longer kept: the name moves in one commit. The space that a named
  /// version needs and newer versions do not stays in use; see `DatabaseOptions.namedVersionLimit` and `pinnedVersions()`.
  ///
  /// It costs a small commit, and a sync if the newest version is not durable yet.
  ///
  /// - Parameter name: 1 to 247 bytes of UTF-8.
  /// - Returns: the number of the kept version. The name itself is stored in the version after it.
  /// - Precondition: this thread has no open transaction on the same database. Otherwise it waits for itself without end.
  /// - Throws: what `beginWrite()` and `WriteTransaction.commit(_:)` throw; `.limitExceeded` if the name is empty or too long, or
  ///   if 1000 versions are named already. The name then stands for the version for which it stood before.
  @discardableResult
  public func keepVersion(named name: String) throws(StorageError) -> UInt64 {
    try keep(nil, named: name)
  }

  /// Keeps the version of a snapshot under a name; see `keepVersion(named:)`.
  ///
  /// - Throws: what `keepVersion(named:)` throws; `.snapshotExpired` if it is unknown whether the version is on the disk, after a
  ///   failed sync or one whose outcome is unknown.
  /// - Precondition: the snapshot was taken from this object. Otherwise the program stops.
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
      // A pinned version that is older than the durable one, and that no failed sync has lost, was synced with the durable
      // version or before.
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

  /// Begins a transaction on a version that is durable and published.
  private func beginOnDurable() throws(StorageError) -> WriteTransaction {
    while true {
      let transaction = try beginWrite { (writer) throws(StorageError) in try writer.gate.makeDurable() }
      if transaction.base.number == held.block.durable.number { return transaction }
      // Another process has committed in between.
      transaction.cancel()
    }
  }

  /// Drops a name. The space that only its version needed is free once the drop is durable and no snapshot of the version exists.
  /// It costs a small commit.
  ///
  /// The content of the version is not read, so that a damaged one can be dropped.
  ///
  /// - Parameter durability: whether the drop survives a loss of power. After a relaxed one, a loss of power may bring the name
  ///   and its version back.
  /// - Returns: whether there was such a name.
  /// - Precondition: as of `keepVersion(named:)`.
  /// - Throws: what `beginWrite()` and `WriteTransaction.commit(_:)` throw.
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

  /// The named versions of the newest published version, in the order of their names.
  ///
  /// - Throws: what `snapshot()` throws; `.corrupted`.
  public func namedVersions() throws(StorageError) -> [NamedVersion] { try snapshot().namedVersions() }

  /// A snapshot of the version with a name. It can be read until it is released, even if the name is dropped meanwhile. Taking it
  /// never waits.
  ///
  /// - Returns: nil if no version has the name.
  /// - Throws: what `snapshot()` throws; `.versionEnded` if the version was ended; `.corrupted`; `.truncated`.
  public func snapshot(named name: String) throws(StorageError) -> Snapshot? {
    var newest = try snapshot()
    while let kept = try newest.keptVersion(named: name) {
      guard !kept.isEnded else {
        throw .versionEnded(name: name, version: kept.version.number, path: path)
      }
      let failures = newest.failures
      try held.pin(named: kept.version)
      let named = Snapshot(database: self, version: kept.version, failures: failures)
      // The name may have been dropped before the version was pinned.
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
  /// The named versions that are stored in this version.
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
