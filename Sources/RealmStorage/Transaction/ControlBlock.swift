/// What the participants of a database tell each other and their successors in this boot.
///
/// It belongs to one boot and one file; anything else in it is forgotten at open. It is never needed to read the file,
/// with one exception: after a failed sync it alone knows which version the disk surely holds.
///
/// Which versions there are and who reads them stands in the tables behind it (`VersionTable`, `ReaderTable`), what
/// the last commits did to pages in the ring (`PageRing`), and who takes part in `Participants`.
package struct ControlBlock: Sendable {
  let memory: SharedMemory

  private enum Word {
    static let boot = 0
    static let device = 2
    static let inode = 3
    static let layout = 4
    static let current = 5
    static let durable = 6
    static let durablePage = 7
    static let greatest = 8
    static let sync = 9
    static let inWrite = 10
    static let isDirty = 11
    static let failures = 12
    static let lastSure = 16
    static let last = 511
  }

  package enum SyncMark: UInt64, Sendable {
    case none = 0
    /// Set before a sync starts and cleared when its outcome is noted.
    case inFlight = 1
    /// The cache no longer tells what the disk holds. Outlives the last close.
    case failed = 2
  }

  /// A version and the entry of the version table that tells its root, in one word, so that both change at once.
  package struct Named: Sendable, Equatable {
    var number: UInt64
    var entry: Int

    init(number: UInt64, entry: Int) {
      self.number = number
      self.entry = entry
    }

    init(word: UInt64) {
      number = word >> 16
      entry = Int(word & 0xffff)
    }

    var word: UInt64 { number << 16 | UInt64(entry) }
  }

  package init(_ memory: SharedMemory) { self.memory = memory }

  /// Whether the block speaks of this file in this boot.
  package func belongs(to file: FileIdentity, boot: BootID) -> Bool {
    memory[word: Word.layout] == ControlPlace.layout
      && memory[word: Word.boot] == boot.first && memory[word: Word.boot + 1] == boot.second
      && memory[word: Word.device] == file.device && memory[word: Word.inode] == file.inode
  }

  /// Forgets everything and speaks of this file from now on.
  package func claim(for file: FileIdentity, boot: BootID) {
    memory[word: Word.layout] = 0
    for word in 0...Word.last { memory[word: word] = 0 }
    memory[word: Word.device] = file.device
    memory[word: Word.inode] = file.inode
    memory[word: Word.boot] = boot.first
    memory[word: Word.boot + 1] = boot.second
    memory[word: Word.layout] = ControlPlace.layout
  }

  /// What new readers read; number zero while the block is being rebuilt.
  package var current: Named {
    get { Named(word: memory[word: Word.current]) }
    nonmutating set { memory[word: Word.current] = newValue.word }
  }

  /// The newest version known durable.
  package var durable: Named {
    get { Named(word: memory[word: Word.durable]) }
    nonmutating set { memory[word: Word.durable] = newValue.word }
  }

  /// The meta page that names the durable version.
  package var durablePage: Int {
    get { Int(truncatingIfNeeded: memory[word: Word.durablePage] & 1) }
    nonmutating set { memory[word: Word.durablePage] = UInt64(newValue) }
  }

  /// The greatest version number given, so that none is given twice.
  package var greatest: UInt64 {
    get { memory[word: Word.greatest] }
    nonmutating set { memory[word: Word.greatest] = newValue }
  }

  package var sync: SyncMark {
    get { SyncMark(rawValue: memory[word: Word.sync]) ?? .failed }
    nonmutating set { memory[word: Word.sync] = newValue.rawValue }
  }

  /// Whoever holds the writer's lock has changed the file. Found by the next holder, it says that the last one died.
  package var inWrite: Bool {
    get { memory[word: Word.inWrite] != 0 }
    nonmutating set { memory[word: Word.inWrite] = newValue ? 1 : 0 }
  }

  /// Something was written since the file was made or cleanly closed.
  package var isDirty: Bool {
    get { memory[word: Word.isDirty] != 0 }
    nonmutating set { memory[word: Word.isDirty] = newValue ? 1 : 0 }
  }

  /// A writer died or failed, and nobody has recovered the file since.
  var needsRecovery: Bool { inWrite || sync != .none }

  // MARK: - Failed syncs

  /// How many syncs failed, seen or unseen, since the block was made.
  var failures: UInt64 { memory[word: Word.failures] }

  private static let rememberedFailures: UInt64 = 64

  /// Notes that the cache proves nothing of versions after `durable`: snapshots of them expire.
  func noteFailure(after durable: UInt64) {
    let failures = failures
    memory[word: Word.lastSure + Int(failures % Self.rememberedFailures)] = durable
    memory[word: Word.failures] = failures + 1
  }

  /// Whether a version that was pinned when `seen` syncs had failed can't be believed any more.
  func isExpired(_ version: UInt64, seen: UInt64) -> Bool {
    let failures = failures
    if failures == seen { return false }
    guard failures > seen, failures - seen <= Self.rememberedFailures else { return true }
    return (seen..<failures).contains {
      memory[word: Word.lastSure + Int($0 % Self.rememberedFailures)] < version
    }
  }
}
