/// The sequence of recovery, for a handle that opens a file and for a writer that takes over from one that died.
extension Recovery {
  enum Company {
    /// Nobody else has the file open. What dead participants left in the tables is forgotten.
    case alone
    /// Others may be reading.
    case others(HeldVersions)
  }

  struct Recovered {
    /// The version that readers get when recovery is done. With `rewritesAfter`, it is the version that must be written
    /// again for them.
    var version: Version
    /// The time of this recovery and its version, if a meta page was passed over because it is damaged or names a
    /// version that is not whole; nil if no page was passed over.
    var stamp: RecoveryStamp?
    /// The version after which everything born must be written again by rule 5; nil if nothing must.
    var rewritesAfter: Version?

    fileprivate init(_ outcome: Outcome) {
      version = outcome.version
      if outcome.rejectedPage { stamp = RecoveryStamp(time: Clock.now, version: version.number) }
      if outcome.mustRewrite { rewritesAfter = outcome.durable }
    }
  }

  /// Finds the version to open, makes it durable and publishes it. If it must be written again, the caller does that.
  /// The caller holds the lock *writer*.
  func recover(_ tables: SharedTables, _ company: Company) throws(StorageError) -> Recovered {
    var others: HeldVersions?
    if case .others(let held) = company { others = held }
    let outcome = try run(tables, isAlone: others == nil)
    // The holders are read after the sync, because a reader may have come meanwhile.
    try publish(outcome, in: tables, holders: others?.holders ?? [])
    return Recovered(outcome)
  }

  /// Publishes what is found, for a handle that opens the file first and may only read it. The file must still be
  /// recovered.
  func publishUnrecovered(_ tables: SharedTables) throws(StorageError) -> Recovered {
    Recovered(try publishUnrecovered(in: tables))
  }
}
