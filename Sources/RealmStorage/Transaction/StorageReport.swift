/// A version that is not the newest and that somebody reads: nothing it reaches is given out again.
public struct PinnedVersion: Sendable, Equatable {
  public var version: UInt64
  /// How long it has been read without a break.
  public var age: Duration
  /// The process that reads it; nil where its number means nothing here, as between containers.
  public var processID: Int32?
  /// Bytes of pages that newer versions no longer need and that it, as the oldest of those that do, keeps from being
  /// given out. Nil for a database that was opened for reading only: who reads does not count pages.
  public var bytes: UInt64?
}

/// What the bytes of a database are used for.
public struct StorageReport: Sendable, Equatable {
  public var fileBytes: UInt64
  /// Bytes that the newest version reaches. Nil, as the two below, for a database opened for reading only.
  public var liveBytes: UInt64?
  /// Bytes of pages that can be given out.
  public var freeBytes: UInt64?
  /// Bytes of pages that older versions keep: pinned ones, and the last durable one.
  public var keptBytes: UInt64?
  /// Oldest version first.
  public var pinned: [PinnedVersion]
}

extension Database {
  /// Who reads which version other than the newest, in all processes, oldest version first.
  ///
  /// Costs what `storageReport` costs.
  public func pinnedVersions() throws(StorageError) -> [PinnedVersion] { try storageReport().pinned }

  /// What the bytes of the file are used for, and who keeps them.
  ///
  /// A database that can write waits for the writer's lock, and the first time walks the nodes that hold refs, as the
  /// first transaction would; after that it takes time in proportion to what was written since.
  ///
  /// - Throws: what `beginWrite` throws.
  public func storageReport() throws(StorageError) -> StorageReport {
    let space = try writer?.measureSpace()
    let current = held.block.current.number
    var pinned: [PinnedVersion] = []
    for pin in held.readers.pins where pin.version != current {
      let process = held.participants.process(pin.participant)
      let oldest = !pinned.contains { $0.version == pin.version }
      pinned.append(
        PinnedVersion(
          version: pin.version, age: .nanoseconds(Int64(clamping: Clock.now &- min(pin.since, Clock.now))),
          processID: process.isLocal ? Int32(clamping: process.id) : nil,
          bytes: space.map { oldest ? $0.kept[pin.version] ?? 0 : 0 }))
    }
    pinned.sort { $0.version < $1.version }
    return StorageReport(
      fileBytes: try store.storage.length(), liveBytes: space?.live, freeBytes: space?.free,
      keptBytes: space.map { $0.kept.values.reduce(0, +) }, pinned: pinned)
  }
}

extension Writer {
  struct Space {
    var live: UInt64
    var free: UInt64
    /// By the oldest version that keeps them.
    var kept: [UInt64: UInt64]
  }

  /// What the page map says of the newest version.
  func measureSpace() throws(StorageError) -> Space {
    gate.enter()
    defer {
      gate.leave()
      rest()
    }
    // A transaction that nothing is done in brings the map up to date.
    _ = try begin()
    space.settle(holders: held.holders)
    guard let map = space.map else { return Space(live: 0, free: 0, kept: [:]) }
    let page = UInt64(FilePlace.page)
    return Space(
      live: UInt64(map.liveUnits * Ref.unit), free: UInt64(map.freeCount) * page,
      kept: map.waitingCounts.mapValues { UInt64($0) * page })
  }
}
