import RealmStorage

// All that the run asks of the engine and that a file open in one process only does without: the one place to change
// when that part of the engine's interface does. `.define("SHARED")` among the target's settings in Package.swift has
// it called.

enum Shared {
  /// Whether several processes, and several handles of one process, may have a file open.
  static var isAvailable: Bool {
    #if SHARED
      true
    #else
      false
    #endif
  }
}

/// A version that somebody reads.
struct Pin: Equatable {
  let version: UInt64
  let process: Int32
}

extension Database {
  func newSnapshot() throws -> Snapshot {
    #if SHARED
      try snapshot()
    #else
      snapshot()
    #endif
  }

  /// The newest version once it is newer than `version`; nil when the time is over.
  func nextVersion(after version: UInt64, seconds: Double) throws -> UInt64? {
    #if SHARED
      try waitForCommit(after: version, timeout: seconds)
    #else
      throw NotShared()
    #endif
  }

  func pins() throws -> [Pin] {
    #if SHARED
      try pinnedVersions().map { Pin(version: $0.version, process: Int32($0.processID)) }
    #else
      throw NotShared()
    #endif
  }
}

/// Nothing waits for other processes where there can be none.
struct NotShared: Error {}

/// The errors that the run expects, by the names of their cases.
enum ErrorName {
  static let forked = "forked"
  static let controlReplaced = "controlReplaced"
  static let truncated = "truncated"
}

extension StorageError {
  /// The name of the case; all have values.
  var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
