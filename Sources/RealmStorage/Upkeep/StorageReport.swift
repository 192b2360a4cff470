import Synchronization

/// A version other than the newest one that somebody reads, or that is kept by name. The space of its nodes is not given to
/// others.
public struct PinnedVersion: Sendable, Equatable {
  /// The number of the version.
  public var version: UInt64
  /// For how long it has been read without a break, or kept.
  public var age: Duration
  /// The id of the process that reads it; nil if no process reads it, or the id has no meaning here, as between containers.
  public var processID: Int32?
  /// The name by which it is kept (`Database.keepVersion(named:)`); nil if a process reads it.
  public var name: String?
  /// What holds it, if this process reads it and has given a purpose (`Snapshot.held(for:)`): `frozen` for frozen realms, objects
  /// and collections.
  public var purpose: String?
  /// The bytes of nodes that no newer version needs, so that they are kept for this version and older ones.
  public var bytes: UInt64
}

/// Who writes a database now, and how many threads of all processes wait for that.
public struct WriterReport: Sendable, Equatable {
  /// For how long the open write transaction has been open; nil if there is none.
  public var openFor: Duration?
  /// The id of the process with the open transaction; nil if there is none, or the id has no meaning here, as between containers.
  public var processID: Int32?
  /// The number of threads that wait to begin a transaction.
  public var waiting: Int
}

/// What the bytes of a database are used for.
public struct StorageReport: Sendable, Equatable {
  /// The size of the file, in bytes.
  public var fileBytes: UInt64
  /// The bytes of the nodes that the newest version reaches.
  public var liveBytes: UInt64
  /// The bytes of the nodes that only pinned versions reach, including versions that are kept by name.
  public var pinnedBytes: UInt64
  /// The bytes of dropped columns and tables that the newest version still has. They are a part of `liveBytes`. Each commit gives
  /// some of them back.
  public var droppedBytes: UInt64
  /// The pinned versions, the oldest first.
  public var pinned: [PinnedVersion]
  /// Who writes the database, and how many threads wait to write.
  public var writer: WriterReport
  /// The ids of the processes that have the database open, besides this handle; a process with several handles stands several
  /// times. Nil stands for a process whose id has no meaning here, as between containers. A process that may not write the folder
  /// beside the file is not listed.
  public var processIDs: [Int32?]
  /// About the size of the file after it is compacted or copied: the bytes of the newest version's nodes and of the meta pages.
  /// Rounding to pages may add some.
  public var compactedBytes: UInt64 {
    let page = UInt64(FilePlace.page)
    return FilePlace.firstNode + (liveBytes + page - 1) / page * page
  }
  /// All other bytes: free space, rounding to pages, and the meta pages.
  public var otherBytes: UInt64 { fileBytes - min(fileBytes, liveBytes + pinnedBytes) }
}

extension Database {
  /// The versions other than the newest one that any process reads or that are kept by name, the oldest first.
  ///
  /// It costs as much as `storageReport()`.
  ///
  /// - Throws: what `storageReport()` throws.
  public func pinnedVersions() throws(StorageError) -> [PinnedVersion] { try storageReport().pinned }

  /// Reports what the bytes of the file are used for, and who keeps them.
  ///
  /// It waits for nobody and makes nobody wait. Takes time in proportion to the nodes that have refs to others. A version that is
  /// released meanwhile may be left out.
  ///
  /// - Throws: what `snapshot()` throws; `.corrupted`.
  public func storageReport() throws(StorageError) -> StorageReport {
    let snapshot = try snapshot()
    var walk = HeldNodes(store: store)
    try walk.visit(snapshot.root, snapshot.access())
    let live = walk.bytes
    var pinned: [PinnedVersion] = []
    for (version, pin) in try olderVersions(than: snapshot) {
      let before = walk.bytes
      // The version may be released and its space reused at any time, so copies of its nodes are read.
      guard (try? walk.visitCopies(version.root)) != nil || pin.name != nil else { continue }
      var pin = pin
      pin.bytes = walk.bytes - before
      pinned.append(pin)
    }
    return StorageReport(
      fileBytes: try store.storage.length(), liveBytes: live, pinnedBytes: walk.bytes - live,
      droppedBytes: try droppedBytes(snapshot),
      pinned: pinned.reversed(), writer: writerReport(),
      processIDs: held.participants.others(than: held.participant).map { $0 == 0 ? nil : Int32(clamping: $0) }
    )
  }

  /// The bytes of dropped columns and tables that a version still has.
  private func droppedBytes(_ snapshot: Snapshot) throws(StorageError) -> UInt64 {
    let access = snapshot.access()
    let catalogue = try Catalogue(snapshot.root, access)
    var (nodes, packed) = (HeldNodes(store: store), 0)
    for schema in try schemas(catalogue, access) where schema.hasDropped {
      let root = try Tables.root(of: schema.id, catalogue, access)
      guard !schema.isDropped else {
        if !root.clusters.isNull { try nodes.visit(root.clusters, access) }
        continue
      }
      try KeyedTree.forEachLeaf(of: root.clusters, access) { (leaf) throws(StorageError) in
        let access = snapshot.access()
        let node = ClusterNode(try access.node(leaf, .cluster))
        guard node.has(anyOf: schema.droppedColumns) else { return true }
        var cluster = try Cluster(leaf, access)
        for id in schema.droppedColumns {
          for place in node.places(of: id) { packed += node.descriptor(place).length }
          for ref in cluster.remove(id) { try nodes.visit(ref, access) }
        }
        return true
      }
    }
    return nodes.bytes + UInt64(packed)
  }

  /// Reports who writes the database now, and how many threads of all processes wait for that. The call never waits.
  public func writerReport() -> WriterReport {
    let (open, waiting) = held.participants.writing(own: held.participant)
    guard let open else { return WriterReport(openFor: nil, processID: nil, waiting: waiting) }
    let (now, process) = (Clock.now, held.participants.process(open.number))
    return WriterReport(
      openFor: .nanoseconds(Int64(clamping: now - min(open.since, now))),
      processID: process.isLocal ? Int32(clamping: process.id) : nil, waiting: waiting)
  }

  /// The versions that are read or kept, the newest first, without their bytes.
  private func olderVersions(
    than newest: Snapshot
  ) throws(StorageError) -> [(version: Version, pin: PinnedVersion)] {
    let now = Clock.now
    var older: [(version: Version, pin: PinnedVersion)] = []
    for pin in held.readers.pins where pin.version < newest.version {
      guard let version = held.versions.find(pin.version).flatMap(held.versions.version) else { continue }
      let process = held.participants.process(pin.participant)
      older.append(
        (
          version,
          PinnedVersion(
            version: pin.version, age: .nanoseconds(Int64(clamping: now - min(pin.since, now))),
            processID: process.isLocal ? Int32(clamping: process.id) : nil, name: nil,
            purpose: pin.participant == held.participant ? held.purpose(of: pin.version) : nil, bytes: 0)
        ))
    }
    let access = newest.access()
    for slot in try VersionSlots.all(Catalogue(newest.root, access), before: newest.version, access) {
      // Damaged entries are found by the integrity check.
      guard let kept = slot.kept, !kept.isEnded else { continue }
      let seconds = now / 1_000_000_000
      older.append(
        (
          kept.version,
          PinnedVersion(
            version: kept.version.number, age: .seconds(Int64(clamping: seconds - min(kept.since, seconds))),
            processID: nil, name: slot.name, purpose: nil, bytes: 0)
        ))
    }
    return older.sorted { ($0.pin.version, $1.pin.age) > ($1.pin.version, $0.pin.age) }
  }
}

/// Adds up the sizes of the nodes of several versions, each node once.
private struct HeldNodes {
  let store: NodeStore
  private(set) var bytes: UInt64 = 0
  private var seen: Set<UInt64> = []

  init(store: NodeStore) { self.store = store }

  mutating func visit(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    guard count(ref) else { return }
    for child in try access.children(of: ref) { try visit(child, access) }
  }

  mutating func visitCopies(_ ref: Ref) throws(StorageError) {
    guard count(ref) else { return }
    for child in try store.copiedChildren(of: ref) { try visitCopies(child) }
  }

  private mutating func count(_ ref: Ref) -> Bool {
    guard !ref.isNull, seen.insert(ref.unit).inserted else { return false }
    bytes += UInt64(store.extent(ofLength: ref.length))
    return true
  }
}

extension Database {
  /// What this handle has written since it was opened. For a handle that only reads all numbers are 0. The call never waits.
  public var writeStatistics: WriteStatistics {
    var statistics = WriteStatistics()
    guard let writer else { return statistics }
    statistics.commits = writer.context.counters.commits.load(ordering: .relaxed)
    statistics.nodeBytes = writer.context.counters.nodeBytes.load(ordering: .relaxed)
    statistics.movedBytes = writer.context.counters.movedBytes.load(ordering: .relaxed)
    statistics.metaBytes = writer.context.counters.metaBytes.load(ordering: .relaxed)
    statistics.growthBytes = writer.context.counters.growthBytes.load(ordering: .relaxed)
    statistics.recycledPages = writer.context.counters.recycledPages.load(ordering: .relaxed)
    return statistics
  }
}
