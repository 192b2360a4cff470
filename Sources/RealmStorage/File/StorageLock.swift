/// The locks of a database that is shared between processes.
///
/// Each lock belongs to one open file, so two handles in one process exclude each other as two processes do. The system
/// releases a lock when its holder ends, in whatever way.
package enum StorageLock: Sendable, Hashable {
  /// Exclusive: held by the handle that writes to the file.
  case writer
  /// Shared: held by each handle that has the file open and is listed in the control block.
  case presence
  /// Shared: held by each reader of the file that can't be listed. While it is held, no page is given out again.
  case unlistedReader
  /// Exclusive, for a moment: held by a handle that lists itself in the control block, rebuilds the block, or removes
  /// dead participants from it.
  case control
  /// Exclusive: held by the handle that has a session with the server that the file is synced with.
  case syncAgent
  /// Exclusive: shows that the participant with this number is alive.
  case participant(Int)

  package var isShared: Bool { self == .presence || self == .unlistedReader }

  /// True for locks of the control file. The others are locks of the database file.
  package var isOfControlFile: Bool {
    switch self {
    case .control, .syncAgent, .participant: true
    case .writer, .presence, .unlistedReader: false
    }
  }

  /// The offset of the byte that stands for the lock. No file is long enough to hold it.
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
