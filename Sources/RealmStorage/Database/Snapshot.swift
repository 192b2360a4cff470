/// One version of a database, which never changes. Held until it is released; reading waits for nobody.
///
/// Safe to use from any number of threads at once.
public final class Snapshot: Sendable {
  let database: Database
  package let base: Version
  /// How many syncs had failed when it was taken.
  let failures: UInt64

  init(database: Database, version: Version, failures: UInt64) {
    self.database = database
    self.failures = failures
    base = version
  }

  deinit { database.unpin(base.number) }

  /// The number of the version.
  public var version: UInt64 { base.number }
}

extension Snapshot: NodeReader {
  package var root: Ref { base.root }
  /// What it may read, for as long as it lives. Of a version that can't be believed any more every read throws.
  @inline(__always)
  var reach: NodeReach { database.reach(of: base, seenFailures: failures) }
  @_lifetime(borrow self)
  package func access() -> NodeAccess { NodeAccess(reach, keptBy: self) }
}
