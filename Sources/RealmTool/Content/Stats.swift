import ArgumentParser
import Foundation
import RealmInterchange
import RealmStorage

struct Stats: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints where the bytes go: by table, column, index and named tree, and by kind of node.",
    discussion: """
      Each node counts once. The rows of a table hold its fixed-size columns: of each of these "packed" tells the bytes, \
      which are among the table's. Columns of varying size, strings, data and lists, have nodes of their own, the \
      pieces; where the values of strings or data repeat, the rows hold codes, and the column's nodes are the \
      dictionary, whose entries are the values.

      With --json it is one object: "fileBytes", "liveBytes", "droppedBytes", "metaBytes", "otherBytes"; "parts", each with "role" \
      (catalogue, table, column, index, links, tree, slot), "name" of the table, tree or slot, "column", "hidden" (only of \
      the library's own tables), "nodes", "bytes", "packedBytes" and "entries"; "kinds", each with "kind", "nodes" and "bytes"; and "pinned", the older versions that \
      processes read or that are kept by name, each with "version", "name" (null: a process reads it), "process" (null: of \
      another container, or none), "seconds" and "bytes" that no newer version needs; and "writer": the "process" whose write \
      transaction is open, for how many "seconds" (both null: none is), and how many threads are "waiting" to begin one; \
      "processes" that have the file open (null: of another container), and "compactedBytes", about the size of the file when it is compacted.
      """)

  @OptionGroup var options: FileOptions

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let database = try options.open()
    let snapshot = try database.snapshot()
    let bar = ProgressBar()
    defer { bar.finish() }
    let report = try SpaceReport(snapshot) { bar.show($0) }
    let held = try database.storageReport()
    bar.finish()
    if json { try Output.line(Self.json(report, held)) } else { try show(report, held) }
  }

  // MARK: - For people

  private func show(_ report: SpaceReport, _ held: StorageReport) throws {
    let total = report.fileBytes
    try table(
      ["Part", "nodes", "bytes", "of file", "packed", "entries"],
      report.parts.map { part in
        [
          part.part.role == .column ? "  \(part.part)" : "\(part.part)", "\(part.space.nodes)",
          "\(part.space.bytes)", percent(part.space.bytes, of: total),
          part.packedBytes == 0 ? "" : "\(part.packedBytes)", part.entries == 0 ? "" : "\(part.entries)",
        ]
      })
    try Output.line()
    try table(
      ["Kind of node", "nodes", "bytes", "of file"],
      report.kinds.map {
        [$0.name, "\($0.space.nodes)", "\($0.space.bytes)", percent($0.space.bytes, of: total)]
      })
    try Output.line()
    try Output.row("Live", share(report.liveBytes, of: total))
    if held.droppedBytes > 0 {
      try Output.row(
        "Dropped", "\(share(held.droppedBytes, of: total)) of them, given back by the next commits")
    }
    try Output.row("Meta pages", share(report.metaBytes, of: total))
    for pin in held.pinned {
      let process = pin.processID.map { "process \($0)" } ?? "a process of another container"
      let holder = pin.name.map { "kept by the name \($0)" } ?? "read by \(process)"
      let age = "\(pin.age.components.seconds) s"
      try Output.row("Version \(pin.version)", "\(share(pin.bytes, of: total)), \(holder) for \(age)")
    }
    let kept = held.pinned.reduce(0) { $0 + $1.bytes }
    try Output.row("Free or rounding", share(report.otherBytes - min(report.otherBytes, kept), of: total))
    try Output.row("File", Wording.bytes(total))
    let saved = total - min(total, held.compactedBytes)
    try Output.row(
      "Compacted", "about \(Wording.bytes(min(total, held.compactedBytes))), \(share(saved, of: total)) less")
    try Output.row("Open in", Self.words(held.processIDs))
    try showWriter(held.writer)
  }

  private static func words(_ processes: [Int32?]) -> String {
    if processes.isEmpty { return "no other process" }
    return Set(processes).map { $0.map { "process \($0)" } ?? "a process of another container" }.sorted()
      .joined(separator: ", ")
  }

  private func showWriter(_ writer: WriterReport) throws {
    if let openFor = writer.openFor {
      let process = writer.processID.map { "process \($0)" } ?? "a process of another container"
      try Output.row("Writer", "\(process), whose transaction began \(openFor.components.seconds) s ago")
    }
    if writer.waiting > 0 { try Output.row("Waiting to write", "\(writer.waiting) threads") }
  }

  private func percent(_ bytes: UInt64, of total: UInt64) -> String {
    "\(total == 0 ? 0 : UInt64(Double(bytes) / Double(total) * 100)) %"
  }

  private func share(_ bytes: UInt64, of total: UInt64) -> String {
    "\(Wording.bytes(bytes)) (\(percent(bytes, of: total)))"
  }

  private func table(_ titles: [String], _ lines: [[String]]) throws {
    let width = max(22, (lines.map { $0[0].count }.max() ?? 0) + 2)
    for cells in [titles] + lines {
      let line =
        cells[0] + String(repeating: " ", count: width - cells[0].count)
        + cells[1...].map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }.joined()
      try Output.line(line.replacing(/\ +$/, with: ""))
    }
  }

  // MARK: - JSON

  static func json(_ report: SpaceReport, _ held: StorageReport) -> String {
    let parts = report.parts.map { part in
      var members = [("role", JSON.string(part.part.role.rawValue))]
      if part.part.role != .catalogue { members.append(("name", JSON.string(part.part.name))) }
      if let column = part.part.column { members.append(("column", JSON.string(column))) }
      if part.part.isHidden { members.append(("hidden", JSON.bool(true))) }
      members += [
        ("nodes", "\(part.space.nodes)"), ("bytes", "\(part.space.bytes)"),
        ("packedBytes", "\(part.packedBytes)"), ("entries", "\(part.entries)"),
      ]
      return JSON.object(members)
    }
    let kinds = report.kinds.map {
      JSON.object([
        ("kind", JSON.string($0.name)), ("nodes", "\($0.space.nodes)"), ("bytes", "\($0.space.bytes)"),
      ])
    }
    let readers = held.pinned.map {
      JSON.object([
        ("version", "\($0.version)"), ("name", $0.name.map { JSON.string($0) } ?? "null"),
        ("process", $0.processID.map { "\($0)" } ?? "null"),
        ("seconds", "\($0.age / .seconds(1))"), ("bytes", "\($0.bytes)"),
      ])
    }
    let writer = JSON.object([
      ("process", held.writer.processID.map { "\($0)" } ?? "null"),
      ("seconds", held.writer.openFor.map { "\($0 / .seconds(1))" } ?? "null"),
      ("waiting", "\(held.writer.waiting)"),
    ])
    return JSON.object([
      ("fileBytes", "\(report.fileBytes)"), ("liveBytes", "\(report.liveBytes)"),
      ("droppedBytes", "\(held.droppedBytes)"), ("metaBytes", "\(report.metaBytes)"),
      ("otherBytes", "\(report.otherBytes)"),
      ("parts", JSON.array(parts)), ("kinds", JSON.array(kinds)),
      ("pinned", JSON.array(readers)), ("writer", writer),
      ("processes", JSON.array(held.processIDs.map { $0.map { "\($0)" } ?? "null" })),
      ("compactedBytes", "\(held.compactedBytes)"),
    ])
  }
}
