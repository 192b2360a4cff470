import RealmStorage
import Synchronization

/// The last values of the rows of one class, for handles of deleted objects, in a realm that was opened with
/// `keepsDeletedValues`.
///
/// Each handle notes its row. Values are therefore copied only for rows that have a handle, and are freed with the last
/// handle of the row. No version is kept for them.
final class LastValues: Sendable {
  private struct Row {
    var handles = 0
    /// The values of a deleted row, by the position of the property; nil while the row exists.
    var values: [Value]?
  }
  private let rows = Mutex<[UInt64: Row]>([:])

  func addHandle(of row: UInt64) { rows.withLock { $0[row, default: Row()].handles += 1 } }

  /// Notes that a handle of a row has gone. Any thread may call this.
  func removeHandle(of row: UInt64) {
    rows.withLock { rows in
      guard var noted = rows[row] else { return }
      noted.handles -= 1
      rows[row] = noted.handles > 0 ? noted : nil
    }
  }

  /// The rows that have handles.
  var noted: [UInt64] { rows.withLock { Array($0.keys) } }

  func isNoted(_ row: UInt64) -> Bool { rows.withLock { $0[row] != nil } }

  func values(of row: UInt64) -> [Value]? { rows.withLock { $0[row]?.values } }

  /// Keeps the values of a deleted row that has a handle, or forgets them.
  ///
  /// - Parameter values: the values of a row that was deleted; nil for a row that exists.
  func keep(_ values: [Value]?, of row: UInt64) { rows.withLock { $0[row]?.values = values } }
}

extension RealmSession {
  /// Prepares for handles that show the version `new` from now on. The values of rows that were deleted since the
  /// version `old` are copied from `old`.
  func keepLastValues(from old: Snapshot, to new: Snapshot) {
    reading { () throws(StorageError) in
      for context in knownContexts {
        guard let last = context.lastValues, let schema = context.binding.table,
          let (oldTable, newTable) = try Self.changed(schema.name, old, new)
        else { continue }
        for row in last.noted {
          let isThere = try newTable?.contains(row) ?? false
          // If a transaction deleted the row, the values that it kept are not replaced.
          if isThere || last.values(of: row) == nil {
            last.keep(isThere ? nil : try context.values(of: row, in: oldTable), of: row)
          }
        }
      }
    }
  }

  /// A table in two versions; nil if its rows are the same in both, or if the old version does not have it.
  private static func changed(
    _ name: String, _ old: Snapshot, _ new: Snapshot
  ) throws(StorageError) -> (Table, Table?)? {
    guard let oldTable = try old.table(name) else { return nil }
    let newTable = try new.table(name)
    return newTable?.hasSameRows(as: oldTable) == true ? nil : (oldTable, newTable)
  }

  /// Copies the values of rows that the open transaction is about to delete and that have handles. The values include
  /// the changes of the transaction.
  ///
  /// - Parameter rows: the rows that will be deleted; nil for all rows.
  func keepLastValues(of rows: [UInt64]?, _ binding: ClassBinding) {
    guard file.configuration.keepsDeletedValues else { return }
    reading { () throws(StorageError) in
      for context in knownContexts where context.binding.slot == binding.slot {
        guard let last = context.lastValues, let table = try writable(binding) else { continue }
        for row in rows?.filter({ last.isNoted($0) }) ?? last.noted where try table.contains(row) {
          last.keep(try context.values(of: row, in: table), of: row)
        }
      }
    }
  }
}

extension ObjectContext {
  /// The value that a property of a deleted row had when the handle was last refreshed; nil if the realm keeps no
  /// values.
  ///
  /// If the open transaction deleted the row along with another one, as it does with an embedded object, the value is
  /// the one from before the transaction. If the transaction also made that row, there is no such value, and the answer
  /// is the zero of the type, or null if the property is optional.
  func lastValue(_ position: Int, _ row: UInt64) throws(StorageError) -> Value? {
    guard let lastValues else { return nil }
    if let values = lastValues.values(of: row) { return values[position] }
    var kept = zeros
    if let schema = binding.table, let old = try session.followed?.table(schema.name),
      let values = try values(of: row, in: old)
    {
      kept = values
    }
    lastValues.keep(kept, of: row)
    return kept[position]
  }

  fileprivate func values(of row: UInt64, in table: Table) throws(StorageError) -> [Value]? {
    guard try table.contains(row) else { return nil }
    return try values { (column) throws(StorageError) in
      try table.value(table.schema.columns[column], ofRow: row)
    }
  }

  fileprivate func values(of row: UInt64, in table: WritableTable) throws(StorageError) -> [Value] {
    try values { (column) throws(StorageError) in try table.value(column, ofRow: row) }
  }

  private var zeros: [Value] {
    values { (column) throws(Never) in
      guard let column = binding.table?.columns[column] else { return nil }
      return column.isOptional ? .null : column.type.zero
    }
  }

  /// The values of a row, by the position of the property. The values of links and collections are null.
  private func values<Failure>(_ value: (_ column: Int) throws(Failure) -> Value?) throws(Failure) -> [Value]
  {
    var values: [Value] = []
    for (property, column) in zip(binding.model.properties, binding.columns) {
      let isSingle = property.type.form == .value && column >= 0
      let found = isSingle ? try value(column) ?? .null : .null
      values.append(found.isLinkOrCollection ? .null : found)
    }
    return values
  }
}

extension Value {
  fileprivate var isLinkOrCollection: Bool {
    switch self {
    case .link, .typedLink, .list, .map: true
    default: false
    }
  }
}
