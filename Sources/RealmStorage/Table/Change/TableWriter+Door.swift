/// The single entry for changes of rows: every change that a program makes comes through `apply`. The exceptions are
/// `insert` and `change`, which make many rows, or change many numbers, by closures. What derives from a change is done
/// behind this entry: entries of indexes, links that are removed, and embedded rows that lose their owner.
///
/// If the transaction has a recorder, `note` reports each change to it.
extension TableWriter {
  /// The outcome of a change.
  enum Outcome {
    /// The change was made, or the table had that state already.
    case done
    /// The row does not exist, or its cell has no such list or map.
    case missing
    /// The number of rows, elements or entries that were changed.
    case count(Int)
    case addition(Addition)

    var isDone: Bool { if case .missing = self { false } else { true } }

    /// The number of a `count`; nil for other outcomes, such as that of a missing row.
    var count: Int? { if case .count(let count) = self { count } else { nil } }
  }

  /// Makes a change, with all changes that derive from it.
  ///
  /// It is inlined, so that no `RowChange.Kind` is made at run time if the caller makes it up only for this call.
  ///
  /// - Parameter range: the allowed sums of `add`. A sum outside of it is not stored.
  /// - Precondition: the change fits. For changes that come from elsewhere, `checkFit` verifies this.
  @inline(__always)
  @discardableResult
  func apply(
    _ change: RowChange.Kind, within range: ClosedRange<Int64> = .min ... .max
  ) throws(StorageError) -> Outcome {
    // New rows are reported before the change, because it may alter them: it may remove a row to which they link.
    if hasRecorder { try tables.noteCreatedRows() }
    switch change {
    case .set(let value, let cell):
      return Outcome(try set(value, at: position(of: cell.column), ofRow: cell.row))
    case .add(let amount, let cell):
      return .addition(try add(amount, to: position(of: cell.column), ofRow: cell.row, within: range))
    case .delete(let row): return .count(try remove(row) ? 1 : 0)
    case .deleteMany(let rows): return .count(try remove(rows))
    case .deleteAll:
      try removeAll()
      return .done
    case .insertElement(let value, let index, let place):
      guard !place.isNested else { return Outcome(try insert([value], at: index, of: nested(place))) }
      return Outcome(
        try insert(value, at: index, ofList: position(of: place.cell.column), ofRow: place.cell.row))
    case .insertElements(let values, let index, let place):
      guard !place.isNested else { return Outcome(try insert(values, at: index, of: nested(place))) }
      return Outcome(
        try insert(values, at: index, ofList: position(of: place.cell.column), ofRow: place.cell.row))
    case .setElement(let value, let index, let place):
      guard !place.isNested else { return Outcome(try setElement(value, at: index, of: nested(place))) }
      return Outcome(
        try setElement(value, at: index, ofList: position(of: place.cell.column), ofRow: place.cell.row))
    case .removeElements(let range, let place):
      guard !place.isNested else { return Outcome(try removeElements(range, of: nested(place))) }
      return Outcome(
        try removeElements(range, ofList: position(of: place.cell.column), ofRow: place.cell.row))
    case .moveElement(let old, let new, let place):
      guard !place.isNested else { return Outcome(try moveElement(from: old, to: new, of: nested(place))) }
      return Outcome(
        try moveElement(from: old, to: new, ofList: position(of: place.cell.column), ofRow: place.cell.row))
    case .swapElements(let first, let second, let place):
      guard !place.isNested else { return Outcome(try swapElements(first, second, of: nested(place))) }
      return Outcome(
        try swapElements(first, second, ofList: position(of: place.cell.column), ofRow: place.cell.row))
    case .reorderElements(let order, let place):
      guard !place.isNested else { return Outcome(try reorderElements(order, of: nested(place))) }
      return Outcome(
        try reorderElements(order, ofList: position(of: place.cell.column), ofRow: place.cell.row))
    case .insertIntoSet(let elements, let cell):
      let added = try insert(elements, intoSet: position(of: cell.column), ofRow: cell.row)
      return added.map { .count($0) } ?? .missing
    case .removeFromSet(let elements, let cell):
      let removed = try remove(elements, fromSet: position(of: cell.column), ofRow: cell.row)
      return removed.map { .count($0) } ?? .missing
    case .setValue(let value, let key, let place):
      guard !place.isNested else { return Outcome(try setValue(value, forKey: key, of: nested(place))) }
      return Outcome(
        try setValue(value, forKey: key, ofMap: position(of: place.cell.column), ofRow: place.cell.row))
    case .removeValue(let key, let place):
      let removed =
        place.isNested
        ? try removeValue(forKey: key, of: nested(place))
        : try removeValue(forKey: key, ofMap: position(of: place.cell.column), ofRow: place.cell.row)
      return removed.map { .count($0 ? 1 : 0) } ?? .missing
    case .addColumn(let column):
      try isReplaying ? addRecorded(column) : add(column)
      return .done
    case .create, .createMany, .setMany, .createTable: return try replay(change)
    }
  }

  /// The cell of a row in the column at a position of the schema.
  @inline(__always)
  func cell(_ position: Int, _ row: UInt64) -> CellPlace { CellPlace(row: row, column: forms[position].id) }

  /// The collection of a row in the column at a position of the schema.
  @inline(__always)
  func elements(_ position: Int, _ row: UInt64) -> ElementsPlace { ElementsPlace(cell: cell(position, row)) }

  /// The place of a list or map that is part of a mixed value.
  func elements(_ place: NestedPlace) -> ElementsPlace {
    ElementsPlace(cell: cell(place.column, place.row), nestedID: place.id, near: place.near)
  }

  /// The position in the schema of a column that the table has.
  @inline(__always)
  func position(of column: UInt16) -> Int {
    // Ids are given in order, and columns are seldom removed.
    let likely = Int(column) - 1
    if forms.indices.contains(likely), forms[likely].id == column { return likely }
    return positionAmongAll(of: column)
  }

  @inline(never)
  private func positionAmongAll(of column: UInt16) -> Int {
    guard let position = forms.firstIndex(where: { $0.id == column }) else {
      preconditionFailure("table \(schema.name) has no column of the id \(column)")
    }
    return position
  }

  private func nested(_ place: ElementsPlace) -> NestedPlace {
    NestedPlace(
      column: position(of: place.cell.column), row: place.cell.row, id: place.nestedID, near: place.near)
  }
}

extension TableWriter.Outcome {
  @inline(__always)
  init(_ isDone: Bool) { self = isDone ? .done : .missing }
}

/// Reporting changes to the recorder and the changelog.
extension TableWriter {
  /// Whether changes of this table are reported to a recorder or a changelog.
  @inline(__always)
  var isRecorded: Bool { hasRecorder && !isHidden }

  /// Throws if changes of the columns that exist can't be reported: a recorder gets none, and a changelog gets none
  /// that concern other files.
  ///
  /// - Parameter isLocal: whether the change concerns this file alone, and no file with which it is synced.
  /// - Throws: `.schemaChangeWhileRecording` if there is a recorder; `.notSyncable` if there is only a changelog, and
  ///   the change is not local.
  func checkNotRecorded(isLocal: Bool = false) throws(StorageError) {
    guard isRecorded, let recording = tables.recording else { return }
    if recording.recorder != nil {
      throw .schemaChangeWhileRecording(table: schema.name, path: editor.store.storage.path)
    }
    if !isLocal { throw notSyncable(.schemaNotAdded) }
  }

  /// Throws `.notSyncable` if there is a changelog, because changes that were recorded elsewhere would bypass it.
  func checkNotSynced() throws(StorageError) {
    if isRecorded, tables.recording?.changelog != nil { throw notSyncable(.appliedChange) }
  }

  func notSyncable(_ problem: SyncProblem, column: String? = nil) -> StorageError {
    .notSyncable(problem, table: schema.name, column: column, path: editor.store.storage.path)
  }

  func tellFromNowOn() { toldRows = root.nextKey }

  /// Reports a change that was made.
  @inline(never)
  func note(_ kind: RowChange.Kind, before: RecordedChange.Before = .nothing) throws(StorageError) {
    guard let recording = tables.recording, !isHidden else { return }
    do throws(StorageError) {
      try tables.noteCreatedRows()
      try recording.record(kind, before, isDerived: recording.isDeriving, of: self)
    } catch {
      throw tables.fail(error)
    }
  }

  /// Reports the rows that were added since rows were reported last. They are in the buffer, as they were made.
  func noteCreatedRows() throws(StorageError) {
    guard isRecorded, toldRows < root.nextKey, let recording = tables.recording else { return }
    let first = toldRows
    toldRows = root.nextKey
    if let row = try buffer?.onlyRow(from: first, below: toldRows) { return try record(row, recording) }
    let part = try buffer?.part(from: first, below: toldRows, asValues: recording.takesRowsApart)
    guard let part else { return }
    var batch = RowBatch()
    batch.append(part)
    guard !recording.takesRowsApart, part.keys.count > 1 else {
      for row in batch.rows { try record(row, recording) }
      return
    }
    try record(.createMany(batch), recording)
  }

  private func record(_ row: RowBatch.Row, _ recording: ChangeRecording) throws(StorageError) {
    try record(.create(row: row.key, values: row.values), recording)
  }

  /// Reports new rows. They never derive from another change, even if they are reported during one.
  private func record(_ kind: RowChange.Kind, _ recording: ChangeRecording) throws(StorageError) {
    do throws(StorageError) {
      try recording.record(kind, .nothing, isDerived: false, of: self)
    } catch {
      throw tables.fail(error)
    }
  }

  /// The present values of a row in all columns; nil if there is no such row.
  func row(_ key: UInt64) throws(StorageError) -> RowBatch.Row? {
    var values: [Value] = []
    if schema.columns.isEmpty, try !contains(key) { return nil }
    for column in schema.columns {
      guard let value = try value(column, ofRow: key) else { return nil }
      values.append(value)
    }
    return RowBatch.Row(key: key, values: values)
  }

  /// Reports that rows are deleted. They still have to be in the table, with their values.
  ///
  /// - Parameters:
  ///   - rows: the keys of the rows, in ascending order.
  ///   - all: whether these are all rows of the table.
  func noteDeletion(of rows: [UInt64], all: Bool = false) throws(StorageError) {
    guard let recording = tables.recording, !isHidden else { return }
    var found: [RowBatch.Row] = []
    for key in rows { if let row = try row(key) { found.append(row) } }
    guard !found.isEmpty else { return }
    if recording.takesRowsApart || (found.count == 1 && !all) {
      for row in found { try note(.delete(row: row.key), before: .rows(RowBatch([row]))) }
    } else {
      try note(all ? .deleteAll : .deleteMany(found.map(\.key)), before: .rows(RowBatch(found)))
    }
  }
}

/// Keeps the changes of the rows of a synced file, for the files with which it is synced. Whenever it is called, it may
/// read the tables as they are then.
protocol Changelog: AnyObject {
  /// Takes a change. Changes that derive from another change are reported, too.
  func record(_ change: RecordedChange, of table: TableWriter) throws(StorageError)
  /// See `ChangeRecorder.elementIDs`.
  func elementIDs(_ count: UInt64) throws(StorageError) -> UInt64
}

/// The receivers of a transaction's changes: the recorder that a program attached, and the changelog of a synced file.
final class ChangeRecording {
  let recorder: (any ChangeRecorder)?
  let changelog: (any Changelog)?
  let takesRowsApart: Bool
  /// Whether the present changes derive from another change.
  private(set) var isDeriving = false
  /// Whether the changelog is not to get the present changes. It has them in another form (absent links whose rows were
  /// made), or they were decided elsewhere.
  private var isKnown = false

  init(_ recorder: (any ChangeRecorder)?, _ changelog: (any Changelog)?) {
    self.recorder = recorder
    self.changelog = changelog
    takesRowsApart = recorder?.takesRowsApart ?? false
  }

  func record(
    _ kind: RowChange.Kind, _ before: RecordedChange.Before, isDerived: Bool, of table: TableWriter
  ) throws(StorageError) {
    let change = RecordedChange(
      RowChange(table: table.schema.id, kind), before: before, isDerived: isDerived)
    if let changelog, !isKnown { try changelog.record(change, of: table) }
    try recorder?.record(change)
  }

  func elementIDs(_ count: UInt64) throws(StorageError) -> UInt64? {
    guard let changelog else { return try recorder?.elementIDs(count) }
    return try changelog.elementIDs(count)
  }

  /// Calls `body`, whose changes derive from another change.
  func deriving<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    let was = isDeriving
    isDeriving = true
    defer { isDeriving = was }
    return try body()
  }

  /// Calls `body`, whose changes are not reported to the changelog.
  func knowing<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    let was = isKnown
    isKnown = true
    defer { isKnown = was }
    return try body()
  }
}
