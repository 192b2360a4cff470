import ArgumentParser
import RealmInterchange
import RealmStorage

struct Info: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Prints what the meta pages say: versions, sizes, encryption, schema version, tables and rows, last recovery.",
    discussion: """
      With --json it is one object: "file", "fileBytes", "format", "draft" (null but in files of the last draft), "fileID", \
      "encrypted", "version", "schemaVersion", "tables", "rows", "trees", "pendingChangesets" (null: the file is not synced), \
      "closedCleanly"; "metaPages", each with "state", and where that is "sound" with "version", "durable", "pages", "time" and "clean"; and \
      "lastRecovery", null or "time" and "version". Times are seconds since 1970.
      """)

  @OptionGroup var options: FileOptions

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let info = try FileInfo(options.open())
    if json { return try Output.line(json(info)) }
    try Output.row("File", options.file)
    try Output.row("Size", "\(Wording.bytes(info.fileLength)) (\(info.fileLength) bytes)")
    try Output.row("Format", Self.format(of: info))
    try Output.row("File id", Hexadecimal.text(info.fileID))
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

  private func json(_ info: FileInfo) -> String {
    let pages = info.pages.map { page in
      var members = [("state", JSON.string(page.state.rawValue))]
      if page.state == .sound {
        members += [
          ("version", JSON.integer(page.version)), ("durable", JSON.integer(page.durable)),
          ("pages", "\(page.pageCount)"), ("time", Self.seconds(page.time)),
          ("clean", JSON.bool(page.isClean)),
        ]
      }
      return JSON.object(members)
    }
    let recovery = info.lastRecovery.map {
      JSON.object([("time", Self.seconds($0.time)), ("version", JSON.integer($0.version))])
    }
    return JSON.object([
      ("file", JSON.string(options.file)), ("fileBytes", JSON.integer(info.fileLength)),
      ("format", "\(info.isLastDraft ? 0 : MetaPage.format)"),
      ("draft", info.isLastDraft ? "\(MetaPage.lastDraft)" : "null"),
      ("fileID", JSON.string(Hexadecimal.text(info.fileID))), ("encrypted", JSON.bool(info.isEncrypted)),
      ("version", JSON.integer(info.version)), ("schemaVersion", JSON.integer(info.schemaVersion)),
      ("tables", "\(info.tableCount)"), ("rows", "\(info.rowCount)"), ("trees", "\(info.treeCount)"),
      ("pendingChangesets", info.changesetCount.map { "\($0)" } ?? "null"),
      ("closedCleanly", JSON.bool(info.isCleanlyClosed)), ("metaPages", JSON.array(pages)),
      ("lastRecovery", recovery ?? "null"),
    ])
  }

  private static func seconds(_ nanoseconds: UInt64) -> String { "\(Double(nanoseconds) / 1e9)" }

  private static func format(of info: FileInfo) -> String {
    info.isLastDraft
      ? "0 (draft \(MetaPage.lastDraft)); becomes \(MetaPage.format) with the next write"
      : "\(MetaPage.format)"
  }
}
