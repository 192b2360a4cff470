import ArgumentParser
import RealmStorage

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Looks at every node: checksums, structure, order, counts, indexes, links. Exits with 1 when something is damaged."
  )

  @OptionGroup var options: FileOptions

  func run() throws {
    let database = try options.open()
    let snapshot = try database.snapshot()
    let bar = ProgressBar()
    let report = IntegrityCheck.run(snapshot) { bar.show($0) }
    bar.finish()
    var findings = report.findings.map { "\($0)" }
    for (index, page) in try FileInfo.pages(of: database).enumerated() where page.state != .sound {
      findings.append("meta page \(index) is \(page.state.rawValue); the other one was used.")
    }
    for finding in findings { print("DAMAGE: \(finding)") }
    // Of what was not looked at nothing is said.
    if let failure = report.failure {
      if findings.isEmpty { throw failure }
      print("Not all could be looked at: \(failure)")
    }
    print(
      "\(report.nodes) nodes, \(Output.bytes(report.liveBytes)), \(report.entries) rows and entries of version \(snapshot.version): "
        + (findings.isEmpty ? "all whole." : "\(findings.count) finding\(findings.count == 1 ? "" : "s")."))
    if !findings.isEmpty { throw ExitCode(1) }
  }
}
