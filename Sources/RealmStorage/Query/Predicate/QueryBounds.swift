/// The conditions on which a search ends before it has found all.
public struct QueryBounds: Sendable {
  /// The moment from which on the search throws `.queryDeadline`.
  public var deadline: ContinuousClock.Instant?
  /// The search asks this once for some ten thousand rows of which it tests a predicate or reads values to sort by or to tell apart, and between the steps of a plan;
  /// where it answers true the search throws `.queryCancelled`. The deadline is looked at at the same moments. A sort puts up to a million rows in order between two of them.
  public var isCancelled: (@Sendable () -> Bool)?

  public init(deadline: ContinuousClock.Instant? = nil, isCancelled: (@Sendable () -> Bool)? = nil) {
    (self.deadline, self.isCancelled) = (deadline, isCancelled)
  }

  /// Nothing ends the search.
  var isEmpty: Bool { deadline == nil && isCancelled == nil }

  func check(_ access: borrowing NodeAccess) throws(StorageError) {
    if let isCancelled, isCancelled() { throw .queryCancelled(path: access.storagePath) }
    if let deadline, ContinuousClock.now >= deadline { throw .queryDeadline(path: access.storagePath) }
  }
}

/// Looks at the bounds of a search once for so many clusters.
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
