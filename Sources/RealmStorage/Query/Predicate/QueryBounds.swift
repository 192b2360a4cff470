/// The conditions on which a search ends before it has found all rows.
public struct QueryBounds: Sendable {
  /// The time from which on the search throws `.queryDeadline`; nil for no limit.
  public var deadline: ContinuousClock.Instant?
  /// A closure that says whether the search is cancelled; nil if it never is. If it returns true, the search throws
  /// `.queryCancelled`.
  ///
  /// The closure is called, and the deadline is checked, between the steps of a plan, and once for some ten thousand rows that
  /// are tested, or whose values are read for a sort or for distinct values. A sort orders up to a million rows between two
  /// calls.
  public var isCancelled: (@Sendable () -> Bool)?

  /// Makes bounds. Without parameters nothing ends the search early.
  public init(deadline: ContinuousClock.Instant? = nil, isCancelled: (@Sendable () -> Bool)? = nil) {
    (self.deadline, self.isCancelled) = (deadline, isCancelled)
  }

  /// Whether nothing ends the search early.
  var isEmpty: Bool { deadline == nil && isCancelled == nil }

  func check(_ access: borrowing NodeAccess) throws(StorageError) {
    if let isCancelled, isCancelled() { throw .queryCancelled(path: access.storagePath) }
    if let deadline, ContinuousClock.now >= deadline { throw .queryDeadline(path: access.storagePath) }
  }
}

/// Checks the bounds of a search once for every 16 clusters.
struct BoundsCheck: ~Copyable {
  private let bounds: QueryBounds
  private let isNeeded: Bool
  private var clusters = 0

  init(_ bounds: QueryBounds) {
    self.bounds = bounds
    isNeeded = !bounds.isEmpty
  }

  private static let interval = 16

  @inline(__always)
  mutating func next(_ access: borrowing NodeAccess) throws(StorageError) {
    guard isNeeded else { return }
    if clusters % Self.interval == 0 { try bounds.check(access) }
    clusters += 1
  }
}
