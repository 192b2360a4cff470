/// The words in shared memory by which the participants of a database inform each other and their successors in this
/// boot.
///
/// The block belongs to one boot and one file; the content of a block of another boot or file is forgotten at open. The
/// block is never needed to read the file, with one exception: after a failed sync it alone knows which version the
/// disk surely holds.
///
/// The table says who writes which word, and under which lock. *writer* and *control* are locks of files; at most one
/// handle holds each. *Leader*: the one thread that takes commits to the disk, or a thread inside the gate of
/// transactions while no commit is in progress. *Opener*: a handle that opens the file while no other handle has it
/// open. It holds *control* and *writer*, but if it may only read, it writes all words under *control* alone.
/// *Recovery* holds *writer*. Readers take no lock.
///
///     word            written by                                            under
///     boot … layout   opener, if the block is of another boot or file       control; layout is 0 before, and written last
///     current         leader, when a version is as sure as was asked        writer
///                     recovery; 0 while a handle that is alone recovers     writer
///     durable         leader, behind a sync; recovery                       writer; with its page, in one word
///     greatest        thread inside the gate, before it uses the number     writer
///                     recovery                                              writer
///     sync            leader and recovery, before and behind each sync      writer
///     inWrite         1: page writer, before nodes are written; the         writer
///                     handle that marks the file clean; opener
///                     0: the handle that gives writer up, unless it is      writer
///                     poisoned or recovery is owed; recovery, at its end
///     isDirty         1: leader, before a meta page; 0: the handle that     writer
///                     marks the file clean; recovery, as the meta pages say
///     failures …      leader or recovery, when a sync has failed            writer; the entry before the count
///     unsynced        leader; recovery                                      writer
///     segments        handle that makes the tables longer                   control
///     readersUsed     handle that takes a reader's entry: by exchange       none
///                     handle that is alone                                  control
///     participants    handle that opens the file                            control
///     rewritten…      recovery, before it writes again                      writer
///
/// The tables behind the block hold the versions and their readers (`VersionTable`, `ReaderTable`), what the last
/// commits did to pages (`PageRing`), and the participants (`Participants`).
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
    /// The cache no longer tells what the disk holds. The mark outlives the last close.
    case failed = 2
  }

  /// A version, the entry of the version table that holds its root, and, for the durable version, the meta page that
  /// names it. All of them are in one word, so that they change at once.
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

  /// Takes over what a library of the last draft left in this boot, because it may say that a sync has failed.
  ///
  /// - Precondition: nobody has the file open, and the caller holds the lock *control*.
  func adoptLastDraft() {
    if memory[word: Word.layout] == ControlPlace.layoutOfLastDraft {
      memory[word: Word.layout] = ControlPlace.layout
    }
  }

  /// Forgets everything, and makes the block speak of this file from now on. D is known from the start, because a block
  /// that speaks of the file without a D would take every version for one that a failed sync may have lost. The mark
  /// *in write* stays until somebody has recovered the file, because it is a guess until then that D is on the disk.
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

  /// The version that new readers get; number zero while the block is being rebuilt.
  package var current: Named {
    get { Named(word: memory[word: Word.current]) }
    nonmutating set { memory[word: Word.current] = newValue.word }
  }

  /// The newest version known durable, and the meta page that names it.
  package var durable: Named {
    get { Named(word: memory[word: Word.durable]) }
    nonmutating set { memory[word: Word.durable] = newValue.word }
  }

  /// The greatest version number given, so that no number is given twice.
  package var greatest: UInt64 {
    get { memory[word: Word.greatest] }
    nonmutating set { memory[word: Word.greatest] = newValue }
  }

  package var sync: SyncMark {
    get { SyncMark(rawValue: memory[word: Word.sync]) ?? .failed }
    nonmutating set { memory[word: Word.sync] = newValue.rawValue }
  }

  /// Whether the holder of the writer's lock has changed the file. If the next holder finds this mark, the last holder
  /// died or failed.
  package var inWrite: Bool {
    get { memory[word: Word.inWrite] != 0 }
    nonmutating set { memory[word: Word.inWrite] = newValue ? 1 : 0 }
  }

  /// Whether something was written since the file was made or cleanly closed.
  package var isDirty: Bool {
    get { memory[word: Word.isDirty] != 0 }
    nonmutating set { memory[word: Word.isDirty] = newValue ? 1 : 0 }
  }

  /// The bytes of nodes that were written since the last sync.
  package var unsyncedBytes: Int {
    get { Int(min(memory[word: Word.unsynced], 1 << 40)) }
    nonmutating set { memory[word: Word.unsynced] = UInt64(newValue) }
  }

  /// Whether a writer died or failed and nobody has recovered the file since.
  var needsRecovery: Bool { inWrite || sync != .none }

  // MARK: - Failed syncs

  /// The number of times that versions were lost because of failed syncs, since the block was made.
  var failures: UInt64 { memory[word: Word.failures] }

  private static let rememberedFailures: UInt64 = 64

  /// Notes that a sync has failed. From then on the cache does not tell what the disk holds, except for D.
  func noteSyncFailed() {
    sync = .failed
    noteFailure(after: durable.number)
  }

  /// Notes that the cache proves nothing about the existing versions after `durable`. Snapshots of them expire.
  func noteFailure(after durable: UInt64) {
    let failures = failures
    let place = Int(failures % Self.rememberedFailures)
    memory[word: Word.lastSure + place] = durable
    memory[word: Word.lastUnsure + place] = greatest
    memory[word: Word.failures] = failures &+ 1
  }

  /// Whether a version can't be believed any more, if its snapshot was taken when `failures` was `seen`.
  func isExpired(_ version: UInt64, seen: UInt64) -> Bool {
    let failures = failures
    if failures == seen { return false }
    // A version is not believed if not all failures since then are remembered.
    guard failures > seen, failures - seen <= Self.rememberedFailures else { return true }
    return (seen..<failures).contains { isLost(version, in: $0) }
  }

  /// Whether a version is one of those that were lost, as far as the failures are remembered. What a lost version
  /// reaches need not be kept.
  func isLost(_ version: UInt64) -> Bool {
    let failures = failures
    return (failures - min(failures, Self.rememberedFailures)..<failures).contains { isLost(version, in: $0) }
  }

  private func isLost(_ version: UInt64, in failure: UInt64) -> Bool {
    let place = Int(failure % Self.rememberedFailures)
    return memory[word: Word.lastSure + place] < version && version <= memory[word: Word.lastUnsure + place]
  }

  // MARK: - Versions that were written again

  /// Notes that what was written after `durable` is about to be written again as a new version, because nobody knows
  /// whether the disk has it where it stood first.
  func noteRewriting(after durable: UInt64) {
    let isFirst = memory[word: Word.rewrittenTo] == 0
    memory[word: Word.rewrittenAfter] = isFirst ? durable : min(memory[word: Word.rewrittenAfter], durable)
    memory[word: Word.rewrittenTo] = greatest
  }

  /// Whether a version older than D may be missing on the disk. Such a version may not get a name.
  func isUnsure(_ version: UInt64) -> Bool {
    memory[word: Word.rewrittenAfter] < version && version <= memory[word: Word.rewrittenTo]
  }
}
