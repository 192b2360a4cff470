import RealmStorage

/// A version that a process reads.
struct Pin: Equatable {
  let version: UInt64
  let process: Int32
}

extension Database {
  func pins() throws -> [Pin] {
    try pinnedVersions().filter { $0.name == nil }.map {
      Pin(version: $0.version, process: $0.processID ?? 0)
    }
  }
}

/// The errors that the run expects, by the names of their cases.
enum ErrorName {
  static let forked = "forked"
  static let controlReplaced = "controlReplaced"
  static let truncated = "truncated"
}

extension StorageError {
  /// The name of the error's case. This works because all cases have associated values.
  var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
