import CRealmPlatform

/// A thread of this process. No two threads have the same id, even if one ended before the other began.
struct ThreadID: Hashable, Sendable {
  private let number: UInt64

  @inline(__always)
  static var current: ThreadID { ThreadID(number: cp_thread_number()) }

  /// The id of the current thread if it was asked for before; else an id of no thread.
  @inline(__always)
  static var known: ThreadID { ThreadID(number: cp_known_thread_number()) }

  /// An id of no thread, different from the one that `known` returns for an unknown thread.
  static var nobody: ThreadID { ThreadID(number: .max) }
}
