package import RealmStorage

/// Makes objects from drafts in a transaction. Links to objects that come later are set at the end.
package final class ObjectInserter {
  /// A value of a row that has a link to an object that was not there yet.
  private struct Waiting {
    let table: UInt32
    let row: UInt64
    let column: Int
    let draft: ValueDraft
    let place: InputPlace
  }

  private struct WaitingCell: Hashable {
    let table: UInt32
    let row: UInt64
    let column: Int
  }

  /// The way in which the inserter treats an object whose primary key another object has.
  package enum Duplicates: Sendable { case areProblems, replace }

  private final class OpenTable {
    let table: WritableTable
    let schema: TableSchema
    let key: Int?
    /// The keys of the rows that were made, by the keys that the rows had in the input.
    var rows: [UInt64: UInt64] = [:]

    init(_ table: WritableTable, _ schema: TableSchema) {
      (self.table, self.schema) = (table, schema)
      key = schema.columns.firstIndex { $0.index == .unique }
    }
  }

  private let transaction: WriteTransaction
  private let tables: ImportTables
  private let duplicates: Duplicates
  private let keysAreRows: Bool
  private let keepsKeys: Bool
  private var open: [UInt32: OpenTable] = [:]
  /// The values with missing links, in the order of the input. An element is nil if the cell was set again later.
  private var waiting: [Waiting?] = []
  private var waitingPlaces: [WaitingCell: Int] = [:]
  /// The number of objects that were made or changed, without embedded objects.
  package private(set) var count = 0

  /// Makes an inserter.
  ///
  /// - Parameters:
  ///   - keysAreRows: whether keys of rows in links are those of this file, and not those of the file from which the
  ///     input comes.
  ///   - keepsKeys: whether a row gets the key that it had in the file from which the input comes, if the table accepts
  ///     the key.
  package init(
    _ transaction: WriteTransaction, _ tables: ImportTables, duplicates: Duplicates,
    keysAreRows: Bool = false, keepsKeys: Bool = false
  ) {
    (self.transaction, self.tables, self.duplicates) = (transaction, tables, duplicates)
    (self.keysAreRows, self.keepsKeys) = (keysAreRows, keepsKeys)
  }

  /// Makes an object.
  ///
  /// - Throws: `InputProblem` if the object can't be made; nothing of it is left then. `InterchangeError` if a value is
  ///   beyond a limit of the file; `StorageError`.
  package func insert(_ draft: ObjectDraft) throws {
    do {
      try insertWhole(draft)
    } catch let error as StorageError {
      // A part of the object may have been made, so the transaction can't go on.
      guard case .limitExceeded = error else { throw error }
      throw InterchangeError("line \(draft.place.line): \(error)")
    }
  }

  private func insertWhole(_ draft: ObjectDraft) throws {
    let table = try opened(draft.table)
    if let old = draft.oldKey, table.rows[old] != nil {
      throw InputProblem(
        line: draft.place.line, column: draft.place.column, property: "key", value: "\(old)",
        "is the key of another object of \(table.schema.name).")
    }
    guard let key = table.key else {
      _ = try make(draft)
      count += 1
      return
    }
    guard let cell = draft.cells.first(where: { $0.column == key }), case .value(let value) = cell.value
    else {
      throw InputProblem(
        line: draft.place.line, column: draft.place.column, property: table.schema.columns[key].name,
        "is missing: it is the primary key of \(table.schema.name).")
    }
    if let row = try table.table.row(withPrimaryKey: value) {
      guard duplicates == .replace else {
        throw InputProblem(
          line: cell.place.line, column: cell.place.column, property: table.schema.columns[key].name,
          value: value.text, "is the primary key of another object of \(table.schema.name).")
      }
      if let old = draft.oldKey { table.rows[old] = row }
      for cell in draft.cells where cell.column != key { try set(cell, table, row) }
    } else {
      _ = try make(draft)
    }
    count += 1
  }

  /// Sets the values of an object that exists.
  ///
  /// - Parameter row: the key of its row.
  /// - Throws: `StorageError`.
  package func change(_ row: UInt64, with draft: ObjectDraft) throws {
    let table = try opened(draft.table)
    for cell in draft.cells { try set(cell, table, row) }
    count += 1
  }

  /// The first link of a draft whose object does not exist; nil if there is none.
  package func missingLink(in draft: ObjectDraft) throws -> LinkDraft? {
    for cell in draft.cells {
      if let link = try missingLink(in: cell.value) { return link }
    }
    return nil
  }

  private func missingLink(in draft: ValueDraft) throws -> LinkDraft? {
    switch draft {
    case .value: return nil
    case .link(let link): return try row(of: link) == nil ? link : nil
    case .embedded(let object): return try missingLink(in: object)
    case .list(let elements):
      for element in elements {
        if let link = try missingLink(in: element) { return link }
      }
    case .map(let entries):
      for entry in entries {
        if let link = try missingLink(in: entry.value) { return link }
      }
    }
    return nil
  }

  /// Sets the values whose links were missing.
  ///
  /// - Parameters:
  ///   - checkInterruption: is called before every 256th value.
  ///   - leaveOut: is called with each link whose object does not exist. Unless it throws, the link is left out.
  /// - Throws: what `checkInterruption` and `leaveOut` throw; `StorageError`.
  package func finish(
    checkInterruption: () throws -> Void = {}, _ leaveOut: (InputProblem) throws -> Void
  ) throws {
    for (number, wait) in waiting.enumerated() {
      guard let wait else { continue }
      if number % 256 == 0 { try checkInterruption() }
      let table = try opened(wait.table)
      // The row may be gone: it may have been an embedded object that was replaced later.
      guard try table.table.contains(wait.row) else { continue }
      let column = table.schema.columns[wait.column]
      var missing: [LinkDraft] = []
      let value = try value(of: wait.draft, column, &missing)
      for link in missing {
        try leaveOut(
          InputProblem(
            line: wait.place.line, column: wait.place.column, property: column.name, value: link.shown,
            "is not there."))
      }
      if let value { try table.table.set(value, wait.column, ofRow: wait.row) }
    }
    (waiting, waitingPlaces) = ([], [:])
  }

  // MARK: - Rows

  private func opened(_ id: UInt32) throws -> OpenTable {
    if let found = open[id] { return found }
    guard let schema = tables.schema(id), let table = try transaction.table(schema.name) else {
      throw InterchangeError("A table of the import is not there any more.")
    }
    let made = OpenTable(table, schema)
    open[id] = made
    return made
  }

  private func make(_ draft: ObjectDraft) throws -> UInt64 {
    let table = try opened(draft.table)
    let fill = { (new: inout NewRow) throws(StorageError) in
      for cell in draft.cells {
        if case .value(let value) = cell.value { try new.set(cell.column, value) }
      }
    }
    var row: UInt64?
    if keepsKeys, let key = draft.oldKey { row = try table.table.insert(key: key, fill) }
    let made = try row ?? table.table.insert(fill)
    if let old = draft.oldKey { table.rows[old] = made }
    for cell in draft.cells {
      if case .value = cell.value { continue }
      try set(cell, table, made)
    }
    return made
  }

  private func set(_ cell: ObjectDraft.Cell, _ table: OpenTable, _ row: UInt64) throws {
    let column = table.schema.columns[cell.column]
    var missing: [LinkDraft] = []
    let value = try value(of: cell.value, column, &missing)
    let place = WaitingCell(table: table.schema.id, row: row, column: cell.column)
    if !waitingPlaces.isEmpty, let earlier = waitingPlaces.removeValue(forKey: place) {
      waiting[earlier] = nil
    }
    if missing.isEmpty {
      if let value { try table.table.set(value, cell.column, ofRow: row) }
    } else {
      waitingPlaces[place] = waiting.count
      waiting.append(
        Waiting(
          table: table.schema.id, row: row, column: cell.column, draft: cell.value, place: cell.place))
    }
  }

  // MARK: - Values

  /// The value of a draft. Embedded objects in it are made. A column of embedded objects has no links that may be
  /// missing, so they are made only once.
  ///
  /// - Parameter missing: gets the links whose objects do not exist. Such an element of a list or set of links is left
  ///   out of the value, and any other such link becomes null.
  private func value(
    of draft: ValueDraft, _ column: Column, _ missing: inout [LinkDraft]
  ) throws -> Value? {
    switch draft {
    case .value(let value): return value
    case .link(let link):
      if let row = try row(of: link) {
        return link.isTyped ? .typedLink(table: link.table, row: row) : .link(row)
      }
      missing.append(link)
      return .null
    case .embedded(let object): return .link(try make(object))
    case .list(let elements):
      var values: [Value] = []
      for element in elements {
        guard let value = try value(of: element, column, &missing) else { continue }
        if case .null = value, column.type == .link { continue }
        values.append(value)
      }
      return column.collection == .set ? .set(values) : .list(values)
    case .map(let entries):
      var values: [(key: String, value: Value)] = []
      for (key, element) in entries {
        if let value = try value(of: element, column, &missing) { values.append((key: key, value: value)) }
      }
      return .map(ValueMap(entries: values))
    }
  }

  private func row(of link: LinkDraft) throws -> UInt64? {
    let table = try opened(link.table)
    switch link.target {
    case .primaryKey(let value): return try table.table.row(withPrimaryKey: value)
    case .oldKey(let key):
      if keysAreRows { return try table.table.contains(key) ? key : nil }
      return table.rows[key]
    }
  }
}
