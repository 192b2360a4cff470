import RealmTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a worker notes of its commits, in a file of its own: what was written there outlives `kill -9`.
///
/// Records are appended by one call each and never cross a page, so that a kill leaves whole ones.
final class Journal {
  enum Kind: UInt64 {
    /// A transaction that will make the slot's count this number.
    case begun = 1
    /// Its commit returned.
    case acknowledged = 2
    /// What a successor found in the file, under the writer's lock: no other outcome is possible any more.
    case settled = 3
  }

  private static let size = 16
  private let descriptor: CInt

  /// Opens it for appending, making it where there is none.
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

  /// How far a slot is known to have come.
  struct Progress {
    /// The count its last transaction was to make.
    var begun = 0
    /// The count it must have at least.
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

  /// Takes in what was appended since.
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
