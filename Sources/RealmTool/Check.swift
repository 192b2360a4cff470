import ArgumentParser
import RealmStorage

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Looks at every node: checksums, structure, order, counts, space. Exits with 1 when something is damaged."
  )

  @OptionGroup var options: FileOptions

  func run() throws {
    let database = try options.open()
    let info = try FileInfo(database)
    let bar = ProgressBar()
    let report = IntegrityCheck.run(database.snapshot()) { bar.show($0, of: info.fileLength) }
    bar.finish()
    var findings = report.findings.map { "\($0)" }
    for (index, page) in info.pages.enumerated() where page.state != .sound {
      findings.append("meta page \(index) is \(page.state.rawValue); the other one was used.")
    }
    for finding in findings { print("DAMAGE: \(finding)") }
    print(
      "\(report.nodes) nodes, \(Output.bytes(report.liveBytes)), \(report.entries) entries of version \(info.version): "
        + (findings.isEmpty ? "all whole." : "\(findings.count) finding\(findings.count == 1 ? "" : "s")."))
    if !findings.isEmpty { throw ExitCode(1) }
  }
}
