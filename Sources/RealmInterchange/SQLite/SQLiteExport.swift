package import RealmStorage

/// Writes a version to a SQLite file. Each table becomes a table that has the keys of its rows as `_key`. Each column
/// of lists, sets or maps becomes a table of its own. Links are keys of rows.
package final class SQLiteExport {
  private struct Target {
    let table: Table
    let name: String
    /// The columns of the table itself, with their positions in the schema and their names.
    var columns: [(position: Int, name: String)] = []
    /// The columns of collections, with their positions in the schema and the names of their tables.
    var collections: [(position: Int, table: String)] = []
  }

  private let file: SQLiteFile
  private let isInterrupted: () -> Bool
  private let names: TableNames
  private var taken: Set<[UInt8]> = []
  private var targets: [Target] = []
  /// The names of the tables, by their ids.
  private var places: [UInt32: String] = [:]

  /// Writes a new file. The caller moves it to its place.
  ///
  /// - Parameters:
  ///   - trees: the names of the named trees to write.
  ///   - shownPath: the path of the file in messages; nil if it is `path`.
  ///   - isInterrupted: is called for each row and each entry. If it returns true, the export ends with an error.
  /// - Throws: `InterchangeError` if SQLite's library is missing or can't write; `StorageError`.
  package static func write(
    _ snapshot: Snapshot, trees: [String], to path: String, shownAs shownPath: String? = nil,
    isInterrupted: @escaping () -> Bool = { false }
  ) throws {
    let file = try SQLiteFile(path: path, shownAs: shownPath ?? path)
    // The journal is not needed, because the caller deletes the file if anything fails.
    try file.run("PRAGMA journal_mode=OFF")
    try file.run("BEGIN")
    let export = SQLiteExport(file, try snapshot.tables(), isInterrupted)
    try export.makeTables()
    for target in export.targets { try export.fill(target) }
    try export.makeIndexes()
    try export.write(trees, of: snapshot)
    try file.run("COMMIT")
  }

  private init(_ file: SQLiteFile, _ tables: [Table], _ isInterrupted: @escaping () -> Bool) {
    (self.file, self.isInterrupted) = (file, isInterrupted)
    names = TableNames(tables.map(\.schema))
    for table in tables {
      let name = unique(table.schema.name, &taken)
      places[table.schema.id] = name
      targets.append(Target(table: table, name: name))
    }
    for place in targets.indices {
      var columns: Set<[UInt8]> = [Self.folded("_key")]
      for (position, column) in targets[place].table.schema.columns.enumerated() where !column.isCompanion {
        if column.isCollection {
          let table = unique("\(targets[place].name).\(column.name)", &taken)
          targets[place].collections.append((position, table))
        } else {
          targets[place].columns.append((position, unique(column.name, &columns)))
        }
      }
    }
  }

  /// A name that is not taken yet, made from another one. Names are compared by bytes, as in SQLite; as Swift strings,
  /// a letter and a mark behind it would be one character.
  private func unique(_ name: String, _ taken: inout Set<[UInt8]>) -> String {
    // SQLite does not allow a zero byte in a name.
    var base = String(decoding: name.utf8.map { $0 == 0 ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
    // SQLite reserves names that begin with `sqlite_`.
    if Self.folded(base).starts(with: "sqlite_".utf8) { base = "_" + base }
    var (found, number) = (base, 2)
    while !taken.insert(Self.folded(found)).inserted {
      found = "\(base)_\(number)"
      number += 1
    }
    return found
  }

  /// The bytes of a name with small letters, because SQLite ignores the case of ASCII letters in names.
  private static func folded(_ name: String) -> [UInt8] {
    name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }

  private static func quoted(_ name: String) -> String {
    var bytes: [UInt8] = [0x22]
    for byte in name.utf8 {
      if byte == 0x22 { bytes.append(0x22) }
      bytes.append(byte)
    }
    return String(decoding: bytes + [0x22], as: UTF8.self)
  }

  // MARK: - Tables

  private func makeTables() throws(InterchangeError) {
    for target in targets {
      let schema = target.table.schema
      var lines = ["\"_key\" INTEGER PRIMARY KEY"]
      for (position, name) in target.columns {
        let column = schema.columns[position]
        lines.append(
          Self.quoted(name) + type(column)
            + (column.isOptional || column.type == .double || column.type == .float ? "" : " NOT NULL")
            + (column.index == .unique ? " UNIQUE" : "") + reference(column))
      }
      try file.run("CREATE TABLE \(Self.quoted(target.name)) (\(lines.joined(separator: ", ")))")
      for (position, table) in target.collections {
        let column = schema.columns[position]
        let place = column.collection == .map ? "\"key\" TEXT" : "\"position\" INTEGER"
        try file.run(
          "CREATE TABLE \(Self.quoted(table)) (\"owner\" INTEGER NOT NULL REFERENCES \(Self.quoted(target.name))(\"_key\"), "
            + "\(place) NOT NULL, \"value\"\(type(column))\(reference(column)), "
            + "PRIMARY KEY (\"owner\", \(column.collection == .map ? "\"key\"" : "\"position\""))) WITHOUT ROWID"
        )
      }
    }
  }

  private func type(_ column: Column) -> String {
    switch column.type {
    case .bool, .int64, .link: " INTEGER"
    case .float, .double: " REAL"
    case .string, .date, .objectID, .uuid, .decimal128: " TEXT"
    case .data: " BLOB"
    case .mixed: ""
    }
  }

  private func reference(_ column: Column) -> String {
    guard column.type == .link, let target = places[column.target] else { return "" }
    return " REFERENCES \(Self.quoted(target))(\"_key\")"
  }

  private func makeIndexes() throws(InterchangeError) {
    for target in targets {
      for (position, name) in target.columns where target.table.schema.columns[position].index == .plain {
        let index = unique("\(target.name).\(name).index", &taken)
        try file.run(
          "CREATE INDEX \(Self.quoted(index)) ON \(Self.quoted(target.name)) (\(Self.quoted(name)))")
      }
    }
  }

  // MARK: - Rows

  private func fill(_ target: Target) throws {
    let columns = target.table.schema.columns
    let marks = Array(repeating: "?", count: target.columns.count + 1).joined(separator: ",")
    let row = try file.prepared("INSERT INTO \(Self.quoted(target.name)) VALUES (\(marks))")
    var elements: [OpaquePointer?] = []
    defer { for statement in [row] + elements { file.finish(statement) } }
    for (_, table) in target.collections {
      elements.append(try file.prepared("INSERT INTO \(Self.quoted(table)) VALUES (?,?,?)"))
    }
    var failure: InterchangeError?
    try target.table.forEach { key, values in
      do throws(InterchangeError) {
        try checkInterruption()
        let own = SQLiteValue.integer(Int64(bitPattern: key))
        let cells = target.columns.map { SQLiteValue(values[$0.position], columns[$0.position].type, names) }
        try file.run(row, [own] + cells)
        for (statement, collection) in zip(elements, target.collections) {
          let type = columns[collection.position].type
          for (place, element) in Self.elements(of: values[collection.position]) {
            try file.run(statement, [own, place, SQLiteValue(element, type, names)])
          }
        }
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  private static func elements(of value: Value) -> [(place: SQLiteValue, value: Value)] {
    switch value {
    case .list(let elements, _):
      elements.enumerated().map { (.integer(Int64($0.offset)), $0.element) }
    case .map(let map, _): zip(map.keys, map.values).map { (.text($0), $1) }
    default: []
    }
  }

  private func checkInterruption() throws(InterchangeError) {
    guard !isInterrupted() else { throw InterchangeError("The export was interrupted.") }
  }

  // MARK: - Named trees

  private func write(_ trees: [String], of snapshot: Snapshot) throws {
    guard !trees.isEmpty else { return }
    let table = unique("_tree", &taken)
    try file.run(
      "CREATE TABLE \(Self.quoted(table)) (\"tree\" TEXT, \"key\" BLOB, \"value\" BLOB, PRIMARY KEY (\"tree\", \"key\")) WITHOUT ROWID"
    )
    let entry = try file.prepared("INSERT INTO \(Self.quoted(table)) VALUES (?,?,?)")
    defer { file.finish(entry) }
    for name in trees {
      var failure: InterchangeError?
      try snapshot.tree(name).forEach { key, value in
        do throws(InterchangeError) {
          try checkInterruption()
          try file.run(entry, [.text(name), .blob(key), .blob(value)])
          return true
        } catch {
          failure = error
          return false
        }
      }
      if let failure { throw failure }
    }
  }
}
