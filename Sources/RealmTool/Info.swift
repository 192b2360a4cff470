import ArgumentParser
import RealmStorage

struct Info: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Prints what the meta pages say: versions, sizes, encryption, schema version, tables and rows, last recovery."
  )

  @OptionGroup var options: FileOptions

  func run() throws {
    let info = try FileInfo(options.open())
    Output.row("File", options.file)
    Output.row("Size", "\(Output.bytes(info.fileLength)) (\(info.fileLength) bytes)")
    Output.row("Format", "\(MetaPage.format) (draft \(MetaPage.draft))")
    Output.row("File id", Output.hex(info.fileID))
    Output.row("Encrypted", info.isEncrypted ? "yes" : "no")
    Output.row("Version", "\(info.version)")
    Output.row("Schema version", "\(info.schemaVersion)")
    Output.row("Tables", "\(info.tableCount)")
    Output.row("Rows", "\(info.rowCount)")
    Output.row("Named trees", "\(info.treeCount)")
    Output.row("Closed cleanly", info.isCleanlyClosed ? "yes" : "no")
    for (index, page) in info.pages.enumerated() {
      let content =
        page.state == .sound
        ? "version \(page.version), durable \(page.durable), \(page.pageCount) pages, \(Output.time(page.time))"
          + (page.isClean ? ", clean" : "")
        : page.state.rawValue
      Output.row("Meta page \(index)", content)
    }
    let recovery = info.lastRecovery.map { "\(Output.time($0.time)), to version \($0.version)" } ?? "none"
    Output.row("Last fall-back", recovery)
  }
}
