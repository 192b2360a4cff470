import RealmStorage
import Synchronization

/// A disk that can lose power.
///
/// It keeps two views. One is the content of the page cache, which mappings and processes see. The other is the content
/// of the platter. A sync brings the pages of the cache to the platter. Until then each written page, independently of
/// the others, keeps its old content, gets any of the contents that were written to it since, a mix of them by 512
/// bytes, or garbage, or can't be read at all. A change of length may be lost.
package final class SimulatedDisk: Storage {
  package let path: String
  package let identity = FileIdentity(device: 7, inode: 7)
  package let isReadOnly = false
  package let boot: BootID
  package let mapping: Mapping
  package let control: SharedMemory?
  private let state: Mutex<State>

  /// An event of the disk, at which power may be lost or the process may die.
  package enum Event: Sendable, Equatable {
    case write(page: Int, count: Int)
    case syncStarted
    case syncEnded
    case truncate
  }

  /// The faults that the disk is to cause.
  package struct Plan: Sendable {
    /// The event at which the process dies, counted from 0; nil for none.
    package var dieAt: Int?
    /// The number of pages that a write still stores if the process dies in it.
    package var pagesWritten = 0
    /// The sync that fails, counted from 0; nil for none.
    package var failSync: Int?
    /// Whether the process dies in that sync, so that it does not see the sync fail.
    package var diesInFailedSync = false

    package init(
      dieAt: Int? = nil, pagesWritten: Int = 0, failSync: Int? = nil, diesInFailedSync: Bool = false
    ) {
      self.dieAt = dieAt
      self.pagesWritten = pagesWritten
      self.failSync = failSync
      self.diesInFailedSync = diesInFailedSync
    }
  }

  private struct State {
    var cache: [[UInt8]] = []
    var platter: [[UInt8]] = []
    /// The contents that were written to a page since the last sync, oldest first.
    var pending: [Int: [[UInt8]]] = [:]
    /// Contents that a failed sync may or may not have brought to the platter. The cache treats these pages as clean.
    var stale: [Int: [[UInt8]]] = [:]
    var cacheLength = 0
    var platterLength = 0
    var unreadable: Set<Int> = []
    var events: [Event] = []
    var syncs = 0
    var plan = Plan()
    var isDead = false
    /// The shared memory in the state at the death of the process.
    var controlAtDeath: SharedMemory?
  }

  private static let page = 4096
  private static let capacity = 1 << 26

  package init(boot: UInt64 = 1) {
    path = "simulated.realm"
    self.boot = BootID(first: boot, second: boot)
    guard let mapping = Mapping.anonymous(Self.capacity),
      let control = SharedMemory.local(ControlPlace.mostBytes)
    else {
      fatalError("no memory for a simulated disk")
    }
    self.mapping = mapping
    self.control = control
    state = Mutex(State())
  }

  private init(boot: BootID, control: SharedMemory?, state: consuming sending State) {
    path = "simulated.realm"
    self.boot = boot
    guard let mapping = Mapping.anonymous(Self.capacity),
      let fresh = SharedMemory.local(ControlPlace.mostBytes)
    else {
      fatalError("no memory for a simulated disk")
    }
    for (index, page) in state.cache.enumerated() { Self.show(page, index, mapping) }
    self.mapping = mapping
    self.control = control ?? fresh
    self.state = Mutex(state)
  }

  package var events: [Event] { state.withLock { $0.events } }
  /// Whether a sync failed in this life of the disk's process.
  package var hasFailedSync: Bool {
    state.withLock { state in state.plan.failSync.map { $0 < state.syncs } ?? false }
  }
  package var isDead: Bool { state.withLock { $0.isDead } }
  package func follow(_ plan: Plan) { state.withLock { $0.plan = plan } }

  private static func show(_ content: [UInt8], _ page: Int, _ mapping: Mapping) {
    content.withUnsafeBytes {
      (mapping.base + page * Self.page).copyMemory(from: $0.baseAddress!, byteCount: Self.page)
    }
  }

  // MARK: - Storage

  package func length() throws(StorageError) -> UInt64 { UInt64(state.withLock { $0.cacheLength }) }

  package func read(_ count: Int, at offset: UInt64) throws(StorageError) -> [UInt8] {
    try checkReadable(count, at: offset)
    return state.withLock { state in
      let end = min(Int(offset) + count, state.cacheLength)
      guard Int(offset) < end else { return [] }
      return (Int(offset)..<end).map { state.cache[$0 / Self.page][$0 % Self.page] }
    }
  }

  package func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
    precondition(offset % 4096 == 0 && bytes.byteCount % 4096 == 0, "the engine writes whole pages")
    let content = bytes.withUnsafeBytes { [UInt8]($0) }
    let first = Int(offset) / Self.page
    let count = content.count / Self.page
    let reached = state.withLock { state in
      if state.isDead { return 0 }
      return state.plan.dieAt == state.events.count ? min(state.plan.pagesWritten, count) : count
    }
    let refusal = happening(.write(page: first, count: count))
    store(content, first: first, count: reached)
    if let refusal { throw refusal }
  }

  private func store(_ content: [UInt8], first: Int, count: Int) {
    state.withLock { state in
      if count > 0, first * Self.page > state.cacheLength {
        for page in state.cacheLength / Self.page..<first {
          while state.cache.count <= page { state.cache.append([UInt8](repeating: 0, count: Self.page)) }
          Self.show(state.cache[page], page, mapping)
        }
      }
      for index in 0..<count {
        let page = first + index
        let bytes = Array(content[index * Self.page..<(index + 1) * Self.page])
        while state.cache.count <= page { state.cache.append([UInt8](repeating: 0, count: Self.page)) }
        state.cache[page] = bytes
        state.pending[page, default: []].append(bytes)
        state.unreadable.remove(page)
        state.cacheLength = max(state.cacheLength, (page + 1) * Self.page)
        Self.show(bytes, page, mapping)
      }
    }
  }

  package func sync(_ kind: SyncKind) throws(StorageError) {
    if let refusal = happening(.syncStarted) { throw refusal }
    let fails = state.withLock { state in
      defer { state.syncs += 1 }
      return state.plan.failSync == state.syncs
    }
    if fails {
      state.withLock { state in
        for (page, contents) in state.pending { state.stale[page, default: []] += contents }
        state.pending = [:]
        if state.plan.diesInFailedSync {
          state.isDead = true
          state.controlAtDeath = Self.copy(of: control)
        }
      }
      throw .system(call: .sync, errno: 5, path: path, offset: nil)
    }
    state.withLock { state in
      for page in state.pending.keys {
        while state.platter.count <= page { state.platter.append([UInt8](repeating: 0, count: Self.page)) }
        state.platter[page] = state.cache[page]
        state.stale[page] = nil
      }
      state.pending = [:]
      state.platterLength = state.cacheLength
    }
    if let refusal = happening(.syncEnded) { throw refusal }
  }

  /// Removed pages read as zeros if the file grows again. Until then, reading them through the mapping finds garbage.
  package func truncate(to length: UInt64) throws(StorageError) {
    precondition(length % 4096 == 0, "the engine cuts at whole pages")
    if let refusal = happening(.truncate) { throw refusal }
    let zeros = [UInt8](repeating: 0, count: Self.page)
    let garbage = [UInt8](repeating: 0xa5, count: Self.page)
    state.withLock { state in
      for page in Int(length) / Self.page..<max(Int(length), state.cacheLength) / Self.page {
        state.cache[page] = zeros
        state.pending[page, default: []].append(zeros)
        state.unreadable.remove(page)
        Self.show(garbage, page, mapping)
      }
      state.cacheLength = Int(length)
    }
  }

  package func reserve(_ length: UInt64) throws(StorageError) {
    guard length <= UInt64(mapping.size) else { throw .limitExceeded(.fileSize, path: path) }
  }

  package func populate(_ count: Int, at offset: UInt64) throws(StorageError) {
    guard count > 0 else { return }
    try checkReadable(count, at: offset)
    guard Int(offset) + count <= state.withLock({ $0.cacheLength }) else {
      throw .system(call: .read, errno: 14, path: path, offset: offset)
    }
  }

  private func checkReadable(_ count: Int, at offset: UInt64) throws(StorageError) {
    guard count > 0 else { return }
    let pages = Int(offset) / Self.page...(Int(offset) + count - 1) / Self.page
    guard state.withLock({ state in pages.allSatisfy { !state.unreadable.contains($0) } }) else {
      throw .system(call: .read, errno: 5, path: path, offset: offset)
    }
  }

  package func close() {}

  /// Notes an event. After the death of the process every call fails, as if the system refused it.
  private func happening(_ event: Event) -> StorageError? {
    state.withLock { state in
      if !state.isDead {
        if state.plan.dieAt == state.events.count {
          state.isDead = true
          state.controlAtDeath = Self.copy(of: control)
        }
        state.events.append(event)
      }
      return state.isDead ? .system(call: .write, errno: 5, path: path, offset: nil) : nil
    }
  }

  private static func copy(of memory: SharedMemory?) -> SharedMemory? {
    memory?.copy(ControlPlace.leastBytes)
  }

  // MARK: - Faults

  /// The disk as a new process finds it after the old one closed the file or was killed. The cache is whole, and marks
  /// in shared memory stay. Pages that a failed sync left clean may have been dropped and read again from the platter.
  package func afterKill(_ generator: inout SeededGenerator) -> SimulatedDisk {
    var new = state.withLock { $0 }
    new.events = []
    new.syncs = 0
    new.plan = Plan()
    new.isDead = false
    let drops = generator.chance(30)
    for (page, contents) in new.stale.sorted(by: { $0.key < $1.key })
    where drops && new.pending[page] == nil && generator.chance(50) {
      let content = Self.fallen(page, contents, new.platter, &generator)
      while new.platter.count <= page { new.platter.append([UInt8](repeating: 0, count: Self.page)) }
      new.platter[page] = content ?? new.platter[page]
      if content == nil { new.unreadable.insert(page) }
      new.cache[page] = new.platter[page]
      new.stale[page] = nil
    }
    let control = new.controlAtDeath ?? Self.copy(of: control)
    new.controlAtDeath = nil
    return SimulatedDisk(boot: boot, control: control, state: new)
  }

  /// The content of a page after a sync that may have failed to write it; nil if the page can't be read.
  private static func fallen(
    _ page: Int, _ contents: [[UInt8]], _ platter: [[UInt8]], _ generator: inout SeededGenerator
  ) -> [UInt8]? {
    let before = page < platter.count ? platter[page] : [UInt8](repeating: 0, count: Self.page)
    let candidates = [before] + contents
    switch generator.below(100) {
    case 0..<40: return contents[contents.count - 1]
    case 40..<60: return before
    case 60..<75: return candidates[generator.below(candidates.count)]
    case 75..<90:
      return (0..<8).flatMap { sector in
        candidates[generator.below(candidates.count)][sector * 512..<(sector + 1) * 512]
      }
    case 90..<96: return generator.bytes(Self.page)
    default: return nil
    }
  }

  /// The disk as the next boot finds it. Each page that was not synced gets its content independently of the others.
  package func afterPowerLoss(_ generator: inout SeededGenerator) -> SimulatedDisk {
    let old = state.withLock { $0 }
    var new = State()
    let keepsLength = generator.chance(50)
    // All pages that reached the platter lie within its length. A file that was made shorter may get its old length
    // back.
    var length = keepsLength ? old.cacheLength : old.platterLength
    new.platter = old.platter
    new.unreadable = old.unreadable
    let onTheirWay = old.stale.merging(old.pending) { $0 + $1 }
    for (page, contents) in onTheirWay.sorted(by: { $0.key < $1.key }) {
      let content = Self.fallen(page, contents, old.platter, &generator)
      while new.platter.count <= page { new.platter.append([UInt8](repeating: 0, count: Self.page)) }
      if let content {
        new.platter[page] = content
        new.unreadable.remove(page)
      } else {
        new.unreadable.insert(page)
      }
      if generator.chance(50) { length = max(length, min((page + 1) * Self.page, old.cacheLength)) }
    }
    let pages = (length + Self.page - 1) / Self.page
    while new.platter.count < pages { new.platter.append([UInt8](repeating: 0, count: Self.page)) }
    new.platter = Array(new.platter.prefix(pages))
    new.unreadable = new.unreadable.filter { $0 < pages }
    new.cache = new.platter
    new.cacheLength = length
    new.platterLength = length
    return SimulatedDisk(
      boot: BootID(first: boot.first + 1, second: boot.second + 1), control: nil, state: new)
  }

  /// A number that is different for nearly all different contents, to count distinct states.
  package var fingerprint: UInt64 {
    state.withLock { state in
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      for (page, content) in state.cache.enumerated() {
        content.withUnsafeBytes { bytes in
          for word in stride(from: 0, to: bytes.count, by: 8) {
            hash = (hash ^ bytes.loadUnaligned(fromByteOffset: word, as: UInt64.self)) &* 0x100_0000_01b3
          }
        }
        if state.unreadable.contains(page) { hash = hash &* 31 &+ UInt64(page) }
      }
      return hash ^ UInt64(state.cacheLength)
    }
  }
}
