import ArgumentParser
import RealmInterchange
import RealmStorage

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Looks at every node: checksums, structure, order, counts, indexes, links; of versions that are kept by name too. Exits with 1 when something is damaged.",
    discussion: """
      Of several files each line begins with the name of its file. A file that can't be opened is told on standard error, and \
      the others are looked at all the same; the exit code is 1 where any file is damaged, else 3 where any could not be opened.

      With --json there is one object for each file: "file", "whole", "version", "nodes", "bytes", "entries", "namedVersions", \
      "findings" and "unknown", each of texts, and "failure", the reason why not all could be looked at, or null. One that can't be \
      opened has "file", "whole" and "failure" alone; "whole" is null where that says nothing about its bytes.
      """)

  @Argument(help: "The .realm files.")
  var files: [String]

  @OptionGroup var keys: KeyOptions

  @Flag(help: "One JSON object for each file.")
  var json = false

  func run() throws {
    let key = try keys.key()
    let bar = ProgressBar()
    var codes: Set<CInt> = []
    for file in files {
      if let refusal = FileOptions.refusal(of: file) {
        codes.insert(try tell(refusal, of: file, isDamaged: false))
        continue
      }
      do {
        let outcome = try CheckedFile(file, key: key, bar)
        bar.finish()
        try tell(outcome, of: file)
        codes.insert(outcome.isWhole ? 0 : 1)
      } catch let error as StorageError {
        bar.finish()
        codes.insert(try tell("\(error)", of: file, isDamaged: error.exitCode == 1))
      }
    }
    if let code = [1, 3].first(where: codes.contains) { throw ExitCode(code) }
  }

  private func tell(_ outcome: CheckedFile, of file: String) throws {
    try Output.telling(outcome.isWhole ? "No damage was found." : "Damage was found.") {
      guard !json else { return try Output.line(outcome.json(file)) }
      let start = files.count > 1 ? "\(file): " : ""
      for line in outcome.lines { try Output.line(start + line) }
    }
  }

  /// Writes why a file could not be checked.
  ///
  /// - Returns: the exit code for this file.
  private func tell(_ failure: String, of file: String, isDamaged: Bool) throws -> CInt {
    if json {
      let whole = isDamaged ? "false" : "null"
      try Output.line(
        JSON.object([
          ("file", JSON.string(file)), ("whole", whole), ("failure", JSON.string(failure)),
        ]))
    }
    Output.complain(failure)
    return isDamaged ? 1 : 3
  }
}

/// The result of the check of one file.
private struct CheckedFile {
  private let report: IntegrityCheck.Report
  private let version: UInt64
  private let namedVersions: Int
  private let namedFindings: Int
  private let findings: [String]

  init(_ path: String, key: [UInt8]?, _ bar: ProgressBar) throws {
    let database = try FileOptions.open(path, key: key)
    let snapshot = try database.snapshot()
    version = snapshot.version
    report = IntegrityCheck.run(snapshot) { bar.show($0) }
    let named = try Self.namedVersions(of: database, bar)
    (namedVersions, namedFindings) = (named.versions, named.findings.count)
    findings =
      report.findings.map { "\($0)" } + named.findings.map { "\($0)" } + (try Self.metaPages(of: database))
    if let failure = report.failure, findings.isEmpty { throw failure }
  }

  var isWhole: Bool { findings.isEmpty }

  var lines: [String] {
    var lines = findings.map { "DAMAGE: \($0)" }
    lines += report.unknown.map {
      "UNKNOWN: \($0): this version of the library can read the file, and not write it."
    }
    // Parts that could not be checked have no findings, so the output says that the check is not complete.
    if let failure = report.failure { lines.append("Not all could be looked at: \(failure)") }
    lines.append(
      "\(report.nodes) nodes, \(Wording.bytes(report.liveBytes)), \(report.entries) rows and entries of version \(version): "
        + (isWhole ? "all whole." : "\(Wording.count(findings.count, "finding"))."))
    if namedVersions > 0 {
      lines.append(
        "\(Wording.count(namedVersions, "named version")): "
          + (namedFindings == 0 ? "all whole." : "\(Wording.count(namedFindings, "finding"))."))
    }
    return lines
  }

  func json(_ file: String) -> String {
    JSON.object([
      ("file", JSON.string(file)), ("whole", JSON.bool(isWhole)), ("version", JSON.integer(version)),
      ("nodes", "\(report.nodes)"), ("bytes", JSON.integer(report.liveBytes)),
      ("entries", JSON.integer(report.entries)), ("namedVersions", "\(namedVersions)"),
      ("findings", JSON.array(findings.map(JSON.string))),
      ("unknown", JSON.array(report.unknown.map { JSON.string("\($0)") })),
      ("failure", report.failure.map { JSON.string("\($0)") } ?? "null"),
    ])
  }

  /// Checks the versions that are kept by name. If their names can't be read, the report is empty, because the check of
  /// the newest version has reported the reason already.
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

  /// Findings about the two meta pages at the start of the file.
  private static func metaPages(of database: Database) throws -> [String] {
    try FileInfo.pages(of: database).enumerated().compactMap { index, page in
      guard page.state != .sound else { return nil }
      return "meta page \(index) is \(page.state.rawValue); the other one was used."
    }
  }
}
