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
    try Output.row("File", options.file)
    try Output.row("Size", "\(Wording.bytes(info.fileLength)) (\(info.fileLength) bytes)")
    try Output.row("Format", Self.format(of: info))
    try Output.row("File id", Wording.hex(info.fileID))
    try Output.row("Encrypted", info.isEncrypted ? "yes" : "no")
    try Output.row("Version", "\(info.version)")
    try Output.row("Schema version", "\(info.schemaVersion)")
    try Output.row("Tables", "\(info.tableCount)")
    try Output.row("Rows", "\(info.rowCount)")
    try Output.row("Named trees", "\(info.treeCount)")
    try Output.row(
      "Synced", info.changesetCount.map { "yes; \(Wording.count($0, "changeset")) not acknowledged" } ?? "no")
    try Output.row("Closed cleanly", info.isCleanlyClosed ? "yes" : "no")
    for (index, page) in info.pages.enumerated() {
      let content =
        page.state == .sound
        ? "version \(page.version), durable \(page.durable), \(page.pageCount) pages, \(Wording.time(page.time))"
          + (page.isClean ? ", clean" : "")
        : page.state.rawValue
      try Output.row("Meta page \(index)", content)
    }
    let recovery = info.lastRecovery.map { "\(Wording.time($0.time)), to version \($0.version)" } ?? "none"
    try Output.row("Last fall-back", recovery)
  }

  private static func format(of info: FileInfo) -> String {
    info.isLastDraft
      ? "0 (draft \(MetaPage.lastDraft)); becomes \(MetaPage.format) with the next write"
      : "\(MetaPage.format)"
  }
}
