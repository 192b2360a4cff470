import ArgumentParser
import Foundation
import RealmStorage

struct Stats: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints where the bytes go: by tree and by kind of node.")

  @OptionGroup var options: FileOptions

  func run() throws {
    let report = try SpaceReport(options.open().snapshot())
    table("Part", report.parts, of: report.fileBytes)
    print()
    table("Kind of node", report.kinds, of: report.fileBytes)
    print()
    Output.row("Live", share(report.liveBytes, of: report.fileBytes))
    Output.row("Meta pages", share(report.metaBytes, of: report.fileBytes))
    Output.row("Free or rounding", share(report.otherBytes, of: report.fileBytes))
    Output.row("File", Output.bytes(report.fileBytes))
  }

  private func share(_ bytes: UInt64, of total: UInt64) -> String {
    "\(Output.bytes(bytes)) (\(total == 0 ? 0 : bytes * 100 / total) %)"
  }

  private func table(_ title: String, _ parts: [SpaceReport.Part], of total: UInt64) {
    let width = max(22, (parts.map(\.name.count).max() ?? 0) + 2)
    func line(_ cells: [String]) {
      print(
        cells[0].padding(toLength: width, withPad: " ", startingAt: 0)
          + cells[1...].map { String(repeating: " ", count: max(1, 14 - $0.count)) + $0 }.joined())
    }
    line([title, "nodes", "bytes", "entries", "of file"])
    for part in parts {
      line([
        part.name, "\(part.nodes)", "\(part.bytes)", part.entries == 0 ? "" : "\(part.entries)",
        "\(total == 0 ? 0 : part.bytes * 100 / total) %",
      ])
    }
  }
}
