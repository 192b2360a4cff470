/// The locks of a database that is shared between processes.
///
/// Each belongs to one open file, so two handles in one process exclude each other as two processes do; the system
/// gives it up when its holder ends, however it ends.
package enum StorageLock: Sendable, Hashable {
  /// Exclusive: who writes to the file.
  case writer
  /// Shared: who has the file open and is listed in the control block.
  case presence
  /// Shared: who reads the file and can't be listed. While it is held no page is given out again.
  case unlistedReader
  /// Exclusive, held for a moment: who lists itself in the control block, rebuilds it, or strikes the dead off.
  case control
  /// Exclusive: who has a session with the server that the file is synced with.
  case syncAgent
  /// Exclusive: that the participant of this number is alive.
  case participant(Int)

  package var isShared: Bool { self == .presence || self == .unlistedReader }

  /// Of the control file; the others are of the database file.
  package var isOfControlFile: Bool {
    switch self {
    case .control, .syncAgent, .participant: true
    case .writer, .presence, .unlistedReader: false
    }
  }

  /// A byte that no file holds stands for the lock.
  package var offset: UInt64 {
    let base = UInt64(1) << 62
    return switch self {
    case .writer, .control: base
    case .presence, .syncAgent: base + 1
    case .unlistedReader: base + 2
    case .participant(let number): base + 3 + UInt64(number)
    }
  }
}
