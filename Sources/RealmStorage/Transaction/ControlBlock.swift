/// What the participants of a database tell each other and their successors in this boot.
///
/// It belongs to one boot and one file; anything else in it is forgotten at open. It is never needed to read the file,
/// with one exception: after a failed sync it alone knows which version the disk surely holds.
package struct ControlBlock: Sendable {
  private let memory: SharedMemory

  private enum Word {
    static let boot = 0
    static let device = 2
    static let inode = 3
    static let published = 4
    static let durable = 5
    static let durablePage = 6
    static let greatest = 7
    static let sync = 8
    static let inWrite = 9
  }

  package enum SyncMark: UInt64, Sendable {
    case none = 0
    /// Set before a sync starts and cleared when its outcome is noted.
    case inFlight = 1
    /// The cache no longer tells what the disk holds. Outlives the last close.
    case failed = 2
  }

  package init(_ memory: SharedMemory) { self.memory = memory }

  /// Whether the block speaks of this file in this boot.
  package func belongs(to file: FileIdentity, boot: BootID) -> Bool {
    memory[word: Word.boot] == boot.first && memory[word: Word.boot + 1] == boot.second
      && memory[word: Word.device] == file.device && memory[word: Word.inode] == file.inode
  }

  /// Forgets everything and speaks of this file from now on.
  package func claim(for file: FileIdentity, boot: BootID) {
    for word in 0...Word.inWrite { memory[word: word] = 0 }
    memory[word: Word.device] = file.device
    memory[word: Word.inode] = file.inode
    memory[word: Word.boot] = boot.first
    memory[word: Word.boot + 1] = boot.second
  }

  package var published: UInt64 {
    get { memory[word: Word.published] }
    nonmutating set { memory[word: Word.published] = newValue }
  }

  /// The newest version known durable, and the meta page that names it.
  package var durable: UInt64 {
    get { memory[word: Word.durable] }
    nonmutating set { memory[word: Word.durable] = newValue }
  }

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

  /// A transaction is changing the file.
  package var inWrite: Bool {
    get { memory[word: Word.inWrite] != 0 }
    nonmutating set { memory[word: Word.inWrite] = newValue ? 1 : 0 }
  }
}
