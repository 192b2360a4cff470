import ArgumentParser
import Foundation
import RealmStorage

struct SalvageFile: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Writes what can be read of a damaged file to a new one, and lists what is lost.",
    discussion: """
      The new file has each object, each value and each entry of a named tree that stands on sound nodes. A value that is lost \
      is the default of its property, or zero, or null. Links to objects that are lost go. Embedded objects whose owners are \
      lost are left out, and so are objects whose primary key is lost. Objects keep their order; the keys of rows, by which \
      `realm dump` tells them, are new. Standard error lists what is lost, and the exit code is 1 where anything is.

      The old file is not changed. The new one is not synced: of a synced file it has the objects, and not what is recorded for \
      the server. It appears when it is complete, or not at all.
      """)

  @OptionGroup var options: FileOptions

  @OptionGroup var made: TargetOptions

  func run() throws {
    Interruption.removeUnfinishedFiles()
    let (key, target) = (try made.key(), made.target)
    try options.requireFile()
    let source = try options.openNewest()
    let report = try SalvageCopy.write(
      source, from: options.file, to: target, encryptionKey: key, leavingOut: Export.syncTrees)
    try Output.telling("The new file was made.") {
      let rows = Wording.count(report.rows, "row")
      let tables = Wording.count(report.tables, "table")
      let entries = report.entries == 1 ? "1 entry" : "\(report.entries) entries"
      try Output.line(
        "\(target): \(rows) of \(tables), \(entries) of \(Wording.count(report.trees, "named tree")); "
          + (report.isComplete ? "nothing is lost." : "what is lost stands on standard error."))
    }
    for loss in report.losses { Output.complain("LOST: \(loss)") }
    for (consequence, count) in report.consequences.sorted(by: { $0.key < $1.key }) {
      Output.complain("LEFT OUT: \(count) \(consequence)")
    }
    if !report.isComplete { throw ExitCode(1) }
  }
}
