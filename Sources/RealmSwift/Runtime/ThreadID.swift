import CPlatform

/// A thread of this process, different from all that ended before it began.
struct ThreadID: Hashable, Sendable {
  private let number: UInt64

  @inline(__always)
  static var current: ThreadID { ThreadID(number: cp_thread_number()) }

  /// The thread that runs, where it was asked for before; else one that is none.
  @inline(__always)
  static var known: ThreadID { ThreadID(number: cp_known_thread_number()) }

  /// None, and not the one that `known` is then.
  static var nobody: ThreadID { ThreadID(number: .max) }
}
