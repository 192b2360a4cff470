/// The one sequence of recovery, for who opens a file and for who takes over from a writer that died.
extension Recovery {
  enum Company {
    /// Nobody else has the file open: what dead participants left in the tables is forgotten.
    case alone
    /// Others may be reading.
    case others(HeldVersions)
  }

  struct Recovered {
    /// The version that readers find when recovery is done; with `rewritesAfter`, the one that is to be written again for them.
    var version: Version
    /// A meta page was passed over, for damage or since what it named is not whole; nil where none was.
    var stamp: RecoveryStamp?
    /// Rule 5: what was born after this version is to be written again.
    var rewritesAfter: Version?

    fileprivate init(_ outcome: Outcome) {
      version = outcome.version
      if outcome.rejectedPage { stamp = RecoveryStamp(time: Clock.now, version: version.number) }
      if outcome.mustRewrite { rewritesAfter = outcome.durable }
    }
  }

  /// Finds the version to open, and makes it sure and publishes it where it need not be written again: that the caller does, who holds the lock *writer*.
  func recover(_ tables: SharedTables, _ company: Company) throws(StorageError) -> Recovered {
    var others: HeldVersions?
    if case .others(let held) = company { others = held }
    let outcome = try run(tables, isAlone: others == nil)
    // Read behind the sync: somebody may have come meanwhile.
    try publish(outcome, in: tables, holders: others?.holders ?? [])
    return Recovered(outcome)
  }

  /// For who opens the file first and may only read it: what is found is published, and stays to be recovered.
  func publishUnrecovered(_ tables: SharedTables) throws(StorageError) -> Recovered {
    Recovered(try publishUnrecovered(in: tables))
  }
}
