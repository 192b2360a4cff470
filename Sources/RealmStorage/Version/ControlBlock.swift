/// What the participants of a database tell each other and their successors in this boot.
///
/// It belongs to one boot and one file; anything else in it is forgotten at open. It is never needed to read the file,
/// with one exception: after a failed sync it alone knows which version the disk surely holds.
///
/// Who writes which word, and under which lock. *writer* and *control* are locks of files, which one handle has at most. *Leads*: the one thread that takes commits to the
/// disk, or is inside the gate of transactions while nothing is on its way. *Recovery* holds writer; so does who opens the file first, with control, but for one that may only read: it
/// writes all words under control. Readers take no lock.
///
///     word            written by                                            under
///     boot … layout   who opens the file first in this boot                 control; layout is 0 before, and written last
///     current         who leads, when a version is as sure as was asked     writer
///                     recovery; 0 while who is alone recovers               writer
///     durable         who leads, behind a sync; recovery                    writer; with its page, in one word
///     greatest        who is inside the gate, before it uses the number     writer
///                     recovery                                              writer
///     sync            who leads, and recovery: before and behind each sync  writer
///     inWrite         1: at the writer of pages, before nodes are written;  writer
///                     who marks the file clean; who opens it first
///                     0: who gives writer up, unless poisoned or recovery   writer
///                     is owed; recovery, at its end
///     isDirty         1: who leads, before a meta page; 0: who marks the    writer
///                     file clean; recovery, as the meta pages say
///     failures …      who leads or recovers, when a sync has failed         writer; the entry before the count
///     unsynced        who leads; recovery                                   writer
///     segments        who makes the tables longer                           control
///     readersUsed     who takes a reader's entry: by exchange               none
///                     who is alone                                          control
///     participants    who opens the file                                    control
///     rewritten…      recovery, before it writes again                      writer
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
    static let greatest = 7
    static let sync = ControlPlace.syncWord
    static let inWrite = 9
    static let isDirty = 10
    static let failures = 11
    static let unsynced = 12
    static let lastSure = 16
    static let lastUnsure = 80
    static let rewrittenAfter = 144
    static let rewrittenTo = 145
    static let last = 511
  }

  package enum SyncMark: UInt64, Sendable {
    case none = 0
    /// Set before a sync starts and cleared when its outcome is noted.
    case inFlight = 1
    /// The cache no longer tells what the disk holds. Outlives the last close.
    case failed = 2
  }

  /// A version, the entry of the version table that tells its root, and, of the durable one, the meta page that names
  /// it: in one word, so that they change at once.
  package struct Named: Sendable, Equatable {
    var number: UInt64
    var entry: Int
    var page: Int

    init(number: UInt64, entry: Int, page: Int = 0) {
      self.number = number
      self.entry = entry
      self.page = page
    }

    init(word: UInt64) {
      number = word >> 16
      page = Int(word >> 15 & 1)
      entry = Int(word & 0x7fff)
    }

    var word: UInt64 { number << 16 | UInt64(page) << 15 | UInt64(entry) }
  }

  package init(_ memory: SharedMemory) { self.memory = memory }

  /// Whether the block speaks of this file in this boot.
  package func belongs(to file: FileIdentity, boot: BootID) -> Bool {
    memory[word: Word.layout] == ControlPlace.layout
      && memory[word: Word.boot] == boot.first && memory[word: Word.boot + 1] == boot.second
      && memory[word: Word.device] == file.device && memory[word: Word.inode] == file.inode
  }

  /// Takes over what a library of the last draft left in this boot: it may say that a sync has failed.
  ///
  /// - Precondition: nobody has the file open, and this process holds the control lock.
  func adoptLastDraft() {
    if memory[word: Word.layout] == ControlPlace.layoutOfLastDraft {
      memory[word: Word.layout] = ControlPlace.layout
    }
  }

  /// Forgets everything and speaks of this file from now on. D is known from the start: a block that speaks of the file
  /// and knows none would take every version for one that a failed sync may have lost. In write until somebody has
  /// recovered the file: that D is on the disk is then a guess.
  package func claim(for file: FileIdentity, boot: BootID, durable: Named) {
    memory[word: Word.layout] = 0
    for word in 0...Word.last { memory[word: word] = 0 }
    memory[word: Word.device] = file.device
    memory[word: Word.inode] = file.inode
    memory[word: Word.boot] = boot.first
    memory[word: Word.boot + 1] = boot.second
    memory[word: Word.durable] = durable.word
    memory[word: Word.inWrite] = 1
    memory[word: Word.layout] = ControlPlace.layout
  }

  /// What new readers read; number zero while the block is being rebuilt.
  package var current: Named {
    get { Named(word: memory[word: Word.current]) }
    nonmutating set { memory[word: Word.current] = newValue.word }
  }

  /// The newest version known durable, and the meta page that names it.
  package var durable: Named {
    get { Named(word: memory[word: Word.durable]) }
    nonmutating set { memory[word: Word.durable] = newValue.word }
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

  /// Bytes of nodes that were written since the last sync.
  package var unsyncedBytes: Int {
    get { Int(min(memory[word: Word.unsynced], 1 << 40)) }
    nonmutating set { memory[word: Word.unsynced] = UInt64(newValue) }
  }

  /// A writer died or failed, and nobody has recovered the file since.
  var needsRecovery: Bool { inWrite || sync != .none }

  // MARK: - Failed syncs

  /// How many times versions were lost, by syncs that failed, since the block was made.
  var failures: UInt64 { memory[word: Word.failures] }

  private static let rememberedFailures: UInt64 = 64

  /// Notes that a sync has failed: the cache does not tell any more what the disk holds, but for D.
  func noteSyncFailed() {
    sync = .failed
    noteFailure(after: durable.number)
  }

  /// Notes that the cache proves nothing of the versions after `durable` that there are: snapshots of them expire.
  func noteFailure(after durable: UInt64) {
    let failures = failures
    let place = Int(failures % Self.rememberedFailures)
    memory[word: Word.lastSure + place] = durable
    memory[word: Word.lastUnsure + place] = greatest
    memory[word: Word.failures] = failures &+ 1
  }

  /// Whether a version that was taken when `seen` versions had been lost can't be believed any more.
  func isExpired(_ version: UInt64, seen: UInt64) -> Bool {
    let failures = failures
    if failures == seen { return false }
    // What is not remembered is not believed.
    guard failures > seen, failures - seen <= Self.rememberedFailures else { return true }
    return (seen..<failures).contains { isLost(version, in: $0) }
  }

  /// Whether a version is one of those that were lost, as far as that is remembered: what it reaches need not be kept.
  func isLost(_ version: UInt64) -> Bool {
    let failures = failures
    return (failures - min(failures, Self.rememberedFailures)..<failures).contains { isLost(version, in: $0) }
  }

  private func isLost(_ version: UInt64, in failure: UInt64) -> Bool {
    let place = Int(failure % Self.rememberedFailures)
    return memory[word: Word.lastSure + place] < version && version <= memory[word: Word.lastUnsure + place]
  }

  // MARK: - Versions that were written again

  /// Notes that what was written after `durable` is about to be written again as a new version: whether the disk has it where
  /// it stood first is known to nobody.
  func noteRewriting(after durable: UInt64) {
    let isFirst = memory[word: Word.rewrittenTo] == 0
    memory[word: Word.rewrittenAfter] = isFirst ? durable : min(memory[word: Word.rewrittenAfter], durable)
    memory[word: Word.rewrittenTo] = greatest
  }

  /// Whether a version older than D may be missing on the disk: it is none that may be named.
  func isUnsure(_ version: UInt64) -> Bool {
    memory[word: Word.rewrittenAfter] < version && version <= memory[word: Word.rewrittenTo]
  }
}
