import RealmTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A worker's notes about its commits, in a file of its own. What was written there survives `kill -9`.
///
/// Each record is appended by one call and never crosses a page, so a kill leaves only whole records.
final class Journal {
  enum Kind: UInt64 {
    /// A transaction has begun that will make the slot's count this number.
    case begun = 1
    /// The commit of that transaction has returned.
    case acknowledged = 2
    /// The count that a later worker found in the file under the writer's lock. No other outcome is possible any more.
    case settled = 3
  }

  private static let size = 16
  private let descriptor: CInt

  /// Opens the journal for appending, and makes it if there is none.
  init(path: String) throws {
    descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Violation("no journal at \(path): error \(errno)") }
  }

  deinit { close(descriptor) }

  func append(_ kind: Kind, _ number: Int) throws {
    let words = [kind.rawValue, UInt64(number)]
    guard write(descriptor, words, Self.size) == Self.size else {
      throw Violation("a journal can't be written: error \(errno)")
    }
  }

  // MARK: - Reading

  /// The known progress of a slot.
  struct Progress {
    /// The count that the slot's last transaction was to make.
    var begun = 0
    /// The least count that the slot must have.
    var acknowledged = 0

    mutating func note(_ kind: Kind, _ number: Int) {
      switch kind {
      case .begun: begun = number
      case .acknowledged: acknowledged = number
      case .settled: (begun, acknowledged) = (number, number)
      }
    }
  }

  private(set) var progress = Progress()
  private var position: off_t = 0

  /// Reads the records that were appended since the last call.
  func catchUp() throws -> Progress {
    var words = [UInt64](repeating: 0, count: 8192)
    while true {
      let count = pread(descriptor, &words, words.count * 8, position) / Self.size
      guard count > 0 else { return progress }
      for index in 0..<count {
        guard let kind = Kind(rawValue: words[2 * index]) else { throw Violation("a journal is damaged") }
        progress.note(kind, Int(words[2 * index + 1]))
      }
      position += off_t(count * Self.size)
    }
  }
}
