import ArgumentParser
import Foundation
import RealmInterchange
import RealmStorage

struct Watch: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints how what a query finds changes, while programs write to the file.",
    discussion: """
      Each line is an object that the query finds now and did not before (+), that it finds still and that was changed (~), or that it does not find any more (-). Commits \
      that come faster than they can be read are told together. It ends with Ctrl-C, or behind --commits of them.
        realm watch app.realm 'Task WHERE done == false'
      With --json each line is an object: "version", "change" (added, changed, removed), "key" of the row, "object" as `realm export` writes it (of one that was \
      removed as it was before), and of one that was changed "properties", the names of those that differ.
      """)

  @OptionGroup var options: FileOptions

  @Argument(help: "The table, and what is asked of it, as `realm query` takes it.")
  var query: String

  @Flag(help: "JSON Lines.")
  var json = false

  @Option(help: "Ends when so many commits were seen that change what the query finds.")
  var commits: Int?

  func validate() throws {
    if let commits, commits < 1 {
      throw ValidationError("--commits takes a number from 1 on, not \(commits).")
    }
  }

  func run() throws {
    // An interruption must not end the process at once, because the files that opening makes beside the realm file have
    // to be removed.
    Interruption.note()
    let database = try options.open()
    defer { database.close() }
    try follow(database)
  }

  /// Watches the file. When this method returns, no snapshot is held any more, so that the file can be closed.
  private func follow(_ database: Database) throws {
    var view = try WatchedRows(QueryRequest(query), of: database.snapshot(), in: options.file)
    Output.complain(
      "\(Wording.count(view.rows.count, "row")) of \(view.table.schema.name) at version \(view.snapshot.version). Ctrl-C ends."
    )
    var seen = 0
    while !Interruption.isWanted, seen < commits ?? .max {
      guard try database.waitForCommit(after: view.snapshot.version, timeout: .milliseconds(250)) != nil
      else { continue }
      let next = try WatchedRows(QueryRequest(query), of: database.snapshot(), in: options.file)
      var isChanged = false
      try next.forEachChange(since: view) { change in
        isChanged = true
        try Output.line(json ? change.json(next.snapshot.version) : change.text)
      }
      try Output.flush()
      if isChanged { seen += 1 }
      view = next
    }
  }
}

/// The rows that a query finds in a version.
struct WatchedRows {
  let snapshot: Snapshot
  let table: Table
  let rows: Set<UInt64>
  private let order: [UInt64]
  private let writer: ObjectWriter

  init(_ request: QueryRequest, of snapshot: Snapshot, in file: String) throws {
    self.snapshot = snapshot
    let tables = try snapshot.tables()
    let search: RowSearch
    (table, search) = try request.search(tables, in: file)
    order = try search.rows()
    rows = Set(order)
    writer = ObjectWriter(tables)
  }

  /// Calls `tell` for each change since an earlier version: first for the removed rows, then for the others in the
  /// order of the query.
  func forEachChange(since old: WatchedRows, _ tell: (WatchedChange) throws -> Void) throws {
    guard table.schema.id == old.table.schema.id else {
      throw InterchangeError(
        "The table \(table.schema.name) was made anew while it was watched: begin again.")
    }
    for row in old.order where !rows.contains(row) {
      try tell(WatchedChange(.removed, row, table.schema, old.cells(ofRow: row)))
    }
    let modified = try modified(since: old)
    for row in order {
      guard old.rows.contains(row) else {
        try tell(WatchedChange(.added, row, table.schema, cells(ofRow: row)))
        continue
      }
      guard modified?.contains(row) ?? true else { continue }
      let (before, after) = (try old.cells(ofRow: row), try cells(ofRow: row))
      if before != after { try tell(WatchedChange(.changed, row, table.schema, after, before: before)) }
    }
  }

  /// The keys of the rows that were modified; nil if each row has to be compared, because embedded objects are parts of
  /// the rows.
  private func modified(since old: WatchedRows) throws -> Set<UInt64>? {
    let embedded = Set(try snapshot.schemas().filter(\.isEmbedded).map(\.id))
    guard !table.schema.columns.contains(where: { $0.type == .link && embedded.contains($0.target) }) else {
      return nil
    }
    let changes = try snapshot.changes(inTable: table.schema.name, since: old.snapshot)
    return Set(changes.modifications.map(\.key))
  }

  /// The values of a row as JSON, in the order of the properties.
  private func cells(ofRow row: UInt64) throws -> [WatchedChange.Cell] {
    var cells: [WatchedChange.Cell] = []
    for column in table.schema.columns where !column.isCompanion {
      var text = JSONWriter()
      try writer.write(table.value(column, ofRow: row) ?? .null, of: column, to: &text)
      cells.append(WatchedChange.Cell(name: column.name, json: String(decoding: text.bytes, as: UTF8.self)))
    }
    return cells
  }
}

/// A change of an object that a query finds or found.
struct WatchedChange {
  enum Kind: String {
    case added, changed, removed

    var sign: String {
      switch self {
      case .added: "+"
      case .changed: "~"
      case .removed: "-"
      }
    }
  }

  /// A property with its value as JSON.
  struct Cell: Equatable {
    let name: String
    let json: String
  }

  private let kind: Kind
  private let row: UInt64
  private let schema: TableSchema
  private let cells: [Cell]
  /// The properties that differ, if the object was changed, with their values before; the value before is nil for a
  /// property that was added since then.
  private let changed: [(cell: Cell, before: String?)]

  init(_ kind: Kind, _ row: UInt64, _ schema: TableSchema, _ cells: [Cell], before: [Cell] = []) {
    (self.kind, self.row, self.schema, self.cells) = (kind, row, schema, cells)
    // Names differ if their bytes differ.
    let old = Dictionary(before.map { (Array($0.name.utf8), $0.json) }) { first, _ in first }
    changed =
      before.isEmpty
      ? [] : cells.map { ($0, old[Array($0.name.utf8)]) }.filter { $0.cell.json != $0.before }
  }

  /// The change on one line, for people.
  var text: String {
    let key = schema.properties.firstIndex { $0.index == .unique }.map { cells[$0].json } ?? "#\(row)"
    let start = "\(kind.sign) \(JSON.shown(schema.name)) \(key)"
    switch kind {
    case .removed: return start
    case .added:
      return start + ": "
        + cells.map { "\(JSON.shown($0.name)) \(Self.short($0.json))" }.joined(separator: ", ")
    case .changed:
      let parts = changed.map {
        "\(JSON.shown($0.cell.name)) \(Self.short($0.before ?? "")) → \(Self.short($0.cell.json))"
      }
      return start + ": " + parts.joined(separator: ", ")
    }
  }

  private static func short(_ text: String) -> String {
    text.count <= 60 ? text : text.prefix(59) + "…"
  }

  func json(_ version: UInt64) -> String {
    var members = [
      ("version", JSON.integer(version)), ("change", JSON.string(kind.rawValue)), ("key", JSON.integer(row)),
      ("object", JSON.object(cells.map { ($0.name, $0.json) })),
    ]
    if kind == .changed {
      members.append(("properties", JSON.array(changed.map { JSON.string($0.cell.name) })))
    }
    return JSON.object(members)
  }
}
