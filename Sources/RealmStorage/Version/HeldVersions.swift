import Synchronization

/// The versions that may be read, in this process and in others. Nothing that they reach is overwritten.
///
/// The shared memory holds the true state. This object counts what this handle holds of it, so that any number of
/// snapshots of one version takes one entry there.
final class HeldVersions: Sendable {
  let block: ControlBlock
  let versions: VersionTable
  let readers: ReaderTable
  let participants: Participants
  /// The number of this handle among the participants.
  let participant: Int
  /// The versions that are kept by name. Only a handle that writes knows them, from the beginning of its first
  /// transaction on.
  let named = Mutex(NamedVersions())
  private let control: ControlLock
  private let storage: any Storage
  private let state = Mutex(State())

  struct State: Sendable {
    var pins: [UInt64: Pin] = [:]
    /// The purposes of some pins, by version. Each purpose is listed as often as there are pins for it.
    var purposes: [UInt64: [String]] = [:]
    /// The number of threads that wait for commits.
    var watchers = 0
    /// The entries of the reader table that this handle has taken and that pin nothing.
    var idle: [Int] = []
    var isClosed = false
    /// The time at which dead participants were last looked for.
    var lastStrike: UInt64 = 0
  }

  struct Pin: Sendable {
    var version: Version
    var entry: Int
    var count: Int
  }

  init(_ shared: SharedTables, participant: Int) {
    block = shared.block
    versions = shared.versions
    readers = shared.readers
    participants = shared.participants
    control = shared.control
    storage = shared.storage
    self.participant = participant
  }

  // MARK: - Pins

  /// Pins the published version. Returns it with the number of syncs that had failed before.
  ///
  /// - Throws: `.forked`, `.closed`, `.controlReplaced`; `.limitExceeded(.readers)`, `.system` if there is no room for
  ///   one more entry.
  func pin() throws(StorageError) -> (version: Version, failures: UInt64) {
    guard !storage.isForked else { throw .forked(path: storage.path) }
    // Until the file is recovered, the current version may be later than what the disk surely holds. The mark is set
    // before the failure is counted, so it is read here after the count.
    let counted = block.failures
    let failures = block.sync == .failed ? max(counted, 1) - 1 : counted
    return try state.withLock { (state) throws(StorageError) in
      guard !state.isClosed else { throw .closed(path: storage.path) }
      let current = block.current
      if let held = state.pins[current.number] {
        state.pins[current.number]?.count += 1
        return (held.version, failures)
      }
      let entry: Int
      if let idle = state.idle.popLast() { entry = idle } else { entry = try readers.take(for: participant) }
      let pinned = readers.pin(entry, in: block)
      if let held = state.pins[pinned.number] {
        // The version became current between the two reads, and this handle had pinned it before.
        readers.unpin(entry)
        state.idle.append(entry)
        state.pins[pinned.number]?.count += 1
        return (held.version, failures)
      }
      guard let version = versions.version(pinned) else {
        readers.unpin(entry)
        state.idle.append(entry)
        throw .controlReplaced(path: storage.path)
      }
      state.pins[pinned.number] = Pin(version: version, entry: entry, count: 1)
      return (version, failures)
    }
  }

  /// Pins a version that a name leads to. Before this call, nothing keeps a writer from overwriting it.
  ///
  /// The version is surely held if the name still leads to it in a version that was current after this call. A writer
  /// that overwrites what the name led to has made a version without the name current before it looks at the pins.
  func pin(named version: Version) throws(StorageError) {
    guard !storage.isForked else { throw .forked(path: storage.path) }
    try state.withLock { (state) throws(StorageError) in
      guard !state.isClosed else { throw .closed(path: storage.path) }
      if state.pins[version.number] != nil {
        state.pins[version.number]?.count += 1
        return
      }
      let entry: Int
      if let idle = state.idle.popLast() { entry = idle } else { entry = try readers.take(for: participant) }
      readers.pin(entry, version: version.number)
      state.pins[version.number] = Pin(version: version, entry: entry, count: 1)
    }
  }

  /// Pins a version once more, for a purpose that reports show.
  ///
  /// - Precondition: the version is pinned.
  func pin(again version: UInt64, for purpose: String) throws(StorageError) {
    guard !storage.isForked else { throw .forked(path: storage.path) }
    state.withLock { state in
      state.pins[version]?.count += 1
      state.purposes[version, default: []].append(purpose)
    }
  }

  /// The purpose that a version is pinned for, if one was given.
  func purpose(of version: UInt64) -> String? { state.withLock { $0.purposes[version]?.first } }

  /// Removes a pin. Returns whether it was the last pin of a closed database.
  func unpin(_ version: UInt64, from purpose: String? = nil) -> Bool {
    // The pins that a forked child inherits belong to its parent.
    guard !storage.isForked else { return false }
    return state.withLock { state in
      if let purpose, var purposes = state.purposes[version] {
        purposes.firstIndex(of: purpose).map { _ = purposes.remove(at: $0) }
        state.purposes[version] = purposes.isEmpty ? nil : purposes
      }
      guard let pin = state.pins[version] else { preconditionFailure("version \(version) is not pinned") }
      if pin.count > 1 {
        state.pins[version]?.count -= 1
      } else {
        state.pins[version] = nil
        readers.unpin(pin.entry)
        state.idle.append(pin.entry)
      }
      return state.isClosed && state.pins.isEmpty
    }
  }

  /// Notes that the database is closed. Returns whether nothing is pinned; false if the database was closed before.
  func close() -> Bool {
    guard !storage.isForked else { return false }
    return state.withLock { state in
      guard !state.isClosed else { return false }
      state.isClosed = true
      return state.pins.isEmpty
    }
  }

  /// Gives back the entries of this handle in the tables, when nothing is read through this handle any more.
  func leave() {
    guard (try? control.lock()) == true else { return }
    defer { control.unlock() }
    let idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    for entry in idle { readers.giveBack(entry) }
    participants.leave(participant)
  }

  /// Calls `body` while nobody else can open the database. Returns false, without the call, if somebody has it open.
  func whileAlone(_ body: () throws(StorageError) -> Void) throws(StorageError) -> Bool {
    _ = try control.lock()
    defer { control.unlock() }
    guard storage.isFileInPlace, storage.isControlInPlace else { throw .controlReplaced(path: storage.path) }
    guard !storage.isHeldElsewhere(.presence), !storage.isHeldElsewhere(.unlistedReader) else { return false }
    try body()
    return true
  }

  func isExpired(_ version: UInt64, seen failures: UInt64) -> Bool {
    block.isExpired(version, seen: failures)
  }

  // MARK: - Waiting

  /// Waits until a version later than `version` is published. Returns its number; nil after `timeout` or when
  /// `isStopped` answers true.
  func wait(
    after version: UInt64, timeout: Duration, isStopped: () -> Bool = { false }
  ) throws(StorageError) -> UInt64? {
    guard !storage.isForked else { throw .forked(path: storage.path) }
    let watch = storage.note?.watch()
    changeWatchers(by: 1)
    defer { changeWatchers(by: -1) }
    let deadline = ContinuousClock.now + timeout
    while true {
      let current = block.current.number
      if current > version { return current }
      if isStopped() { return nil }
      let left = deadline - ContinuousClock.now
      guard left > .zero else { return nil }
      guard let watch else {
        NotePipe.pause(min(left, .milliseconds(5)))
        continue
      }
      // Some kernels lose a wake-up if the pipe is not empty.
      watch.wait(min(left, .seconds(1)))
    }
  }

  private func changeWatchers(by change: Int) {
    state.withLock { state in
      state.watchers += change
      guard !state.isClosed else { return }
      participants.setWatching(state.watchers > 0, participant)
    }
  }

  // MARK: - For the writer

  /// The published version. While the writer's lock is held, only the holder changes it.
  func published() throws(StorageError) -> Version { try version(block.current) }

  private func version(_ named: ControlBlock.Named) throws(StorageError) -> Version {
    guard let version = versions.version(named) else { throw .controlReplaced(path: storage.path) }
    return version
  }

  /// The versions that are held by readers, by names, as published or as durable, ascending.
  var holders: [UInt64] {
    var held: [UInt64] = []
    addHolders(to: &held)
    held.sortWithoutRepeats()
    return held
  }

  /// Adds the held versions to others, in no order.
  func addHolders(to held: inout [UInt64]) {
    held.reserveCapacity(held.count + Self.fewHolders)
    // The current version is loaded before the pins (`ReaderTable`), and the durable version before the current one.
    // Names that no version from the durable one on has are forgotten. A version without them is then current, and a
    // thread that pins a named version looks for such a version.
    let durable = block.durable.number
    held.append(durable)
    named.withLock { named in
      named.forget(before: durable)
      named.addNumbers(to: &held)
    }
    held.append(block.current.number)
    readers.forEachPin { held.append($0.version) }
  }
  /// Most often there are no more holders than this.
  private static let fewHolders = 8

  /// Makes sure that the versions to come find an entry, because the publication of a version that is on disk must not
  /// fail.
  func makeRoom(beside holders: Int) throws(StorageError) {
    let count = versions.segments.count
    // If the table can't become longer, its entries must be enough. Readers are then refused instead.
    guard count < ControlPlace.segmentCount else { return }
    if holders + Self.mostOnTheirWay > versions.segments.entryCount {
      try versions.segments.add(to: count)
    }
  }
  private static let mostOnTheirWay = 256

  /// Makes a version current for new readers of all processes. Returns the version with its entry, for a caller that
  /// notes it as durable.
  func publish(_ version: Version, also pending: [UInt64]) throws(StorageError) -> ControlBlock.Named {
    var holders = pending
    addHolders(to: &holders)
    holders.sortWithoutRepeats()
    let named = try versions.add(version, holders: holders)
    block.current = named
    wake()
    return named
  }

  func wake() { if participants.anyoneWatches { storage.note?.wake() } }

  func setDurable(_ version: ControlBlock.Named, page: Int) {
    block.durable = ControlBlock.Named(number: version.number, entry: version.entry, page: page)
  }

  /// Strikes off participants that died, but at most once in `interval` nanoseconds. This is for a writer that has
  /// pages waiting for readers.
  func strikeOffTheDead(atMostEvery interval: UInt64) {
    let now = Clock.steady
    let isDue = state.withLock { state in
      guard now &- state.lastStrike > interval else { return false }
      state.lastStrike = now
      return true
    }
    if isDue { strikeOffTheDead() }
  }

  /// Strikes off participants that died, so that the pages they held can be given out again.
  func strikeOffTheDead() {
    guard (try? control.lock(waits: false)) == true else { return }
    defer { control.unlock() }
    participants.strikeOffTheDead(readers, except: participant)
  }
}

/// The shared memory of a database, with its tables.
struct SharedTables: Sendable {
  let storage: any Storage
  let block: ControlBlock
  let control: ControlLock
  let segments: Segments
  let participants: Participants
  let ring: PageRing
  var versions: VersionTable { VersionTable(segments: segments) }
  var readers: ReaderTable { ReaderTable(segments: segments) }

  /// Uses the shared memory of the storage, or memory of its own if nothing can be shared.
  init(_ storage: any Storage) throws(StorageError) {
    guard let memory = storage.control ?? SharedMemory.local(ControlPlace.mostBytes) else {
      throw .system(call: .map, errno: 12, path: storage.path, offset: nil)
    }
    self.storage = storage
    block = ControlBlock(memory)
    control = ControlLock(storage)
    segments = Segments(memory: memory, control: control, path: storage.path)
    participants = Participants(memory: memory, storage: storage)
    ring = PageRing(memory: memory)
  }

  /// Forgets the participants, what they read, and every version. The caller must be alone.
  func clear() {
    participants.clear()
    readers.clear()
    versions.clear()
    ring.clear()
  }
}
