import ArgumentParser
import RealmStorage

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Looks at every node: checksums, structure, order, counts, indexes, links; of versions that are kept by name too. Exits with 1 when something is damaged."
  )

  @OptionGroup var options: FileOptions

  func run() throws {
    let database = try options.open()
    let snapshot = try database.snapshot()
    let bar = ProgressBar()
    let report = IntegrityCheck.run(snapshot) { bar.show($0) }
    let named = try Self.namedVersions(of: database, bar)
    bar.finish()
    let findings =
      report.findings.map { "\($0)" } + named.findings.map { "\($0)" } + (try Self.metaPages(of: database))
    if let failure = report.failure, findings.isEmpty { throw failure }
    try Output.telling(findings.isEmpty ? "No damage was found." : "Damage was found.") {
      for finding in findings { try Output.line("DAMAGE: \(finding)") }
      for feature in report.unknown {
        try Output.line(
          "UNKNOWN: \(feature): this version of the library can read the file, and not write it.")
      }
      // Of what was not looked at nothing is said.
      if let failure = report.failure { try Output.line("Not all could be looked at: \(failure)") }
      try Output.line(
        "\(report.nodes) nodes, \(Wording.bytes(report.liveBytes)), \(report.entries) rows and entries of version \(snapshot.version): "
          + (findings.isEmpty ? "all whole." : "\(Wording.count(findings.count, "finding"))."))
      if named.versions > 0 {
        try Output.line(
          "\(Wording.count(named.versions, "named version")): "
            + (named.findings.isEmpty ? "all whole." : "\(Wording.count(named.findings.count, "finding"))."))
      }
    }
    if !findings.isEmpty { throw ExitCode(1) }
  }

  /// Where the names can't be read the check of the newest version has told why.
  private static func namedVersions(
    of database: Database, _ bar: ProgressBar
  ) throws -> NamedVersionCheck.Report {
    do {
      return try NamedVersionCheck.run(database) { bar.show($0) }
    } catch {
      switch error {
      case .corrupted, .unknownFeature: return NamedVersionCheck.Report()
      default: throw error
      }
    }
  }

  /// What is wrong with the two pages that a file begins with.
  private static func metaPages(of database: Database) throws -> [String] {
    try FileInfo.pages(of: database).enumerated().compactMap { index, page in
      guard page.state != .sound else { return nil }
      return "meta page \(index) is \(page.state.rawValue); the other one was used."
    }
  }
}
