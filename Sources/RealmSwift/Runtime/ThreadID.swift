import CPlatform

/// A thread of this process, different from all that ended before it began.
struct ThreadID: Hashable, Sendable {
  private let number: UInt64

  @inline(__always)
  static var current: ThreadID { ThreadID(number: cp_thread_number()) }
}
