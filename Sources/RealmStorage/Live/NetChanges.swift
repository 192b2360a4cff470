/// The changes of tables from the version of which an observer was notified last to the newest version. The versions in
/// between need not exist any more.
///
/// The changes of several steps are combined. A row that was inserted and then deleted is no change, nor is a value
/// that was changed and is equal to its first value again. To find such values, a hash of each value that a step
/// changes is kept. If a step changes more than 1,000 rows of a table, no hashes are kept for it. Then all values that
/// it is the first step to change count as changed.
package struct NetChanges {
  private struct Net {
    var inserted: Set<UInt64> = []
    var deleted: Set<UInt64> = []
    /// The hash of the first value of each changed cell, by the key of the row and the position of the column; nil if
    /// the hash is not known. The column −1 stands for all columns of a row whose deletion was undone.
    var modified: [UInt64: [Int: Int?]] = [:]
  }

  private var tables: [UInt32: Net] = [:]
  private var isOneStep = false
  private var onlyStep: [UInt32: TableChanges] = [:]

  package init() {}

  package var isEmpty: Bool { tables.isEmpty && onlyStep.isEmpty }

  private static let mostKept = 1_000

  private static func isLarge(_ changes: TableChanges) -> Bool { changes.modifications.count > mostKept }

  /// Adds the changes of a step in the tables with some ids.
  package mutating func add(_ step: VersionStep, _ ids: Set<UInt32>) throws(StorageError) {
    var changed: [UInt32: TableChanges] = [:]
    for id in ids {
      let changes = try step.changes(of: id)
      if !changes.isEmpty { changed[id] = changes }
    }
    if changed.isEmpty { return }
    if isEmpty {
      (onlyStep, isOneStep) = (changed, true)
      // No hashes are kept for large changes, so these are combined only if another step follows.
      for (id, changes) in changed where !Self.isLarge(changes) { try add(changes, of: id, step.old) }
      return
    }
    for (id, changes) in onlyStep where tables[id] == nil { try add(changes, of: id, step.old) }
    (onlyStep, isOneStep) = ([:], false)
    for (id, changes) in changed { try add(changes, of: id, step.old) }
  }

  private mutating func add(
    _ changes: TableChanges, of id: UInt32, _ old: Snapshot
  ) throws(StorageError) {
    var net = tables[id] ?? Net()
    for row in changes.deletions {
      if net.inserted.remove(row) == nil { net.deleted.insert(row) }
      net.modified[row] = nil
    }
    for row in changes.insertions {
      // If the row was deleted by an earlier step, that deletion was undone.
      if net.deleted.remove(row) == nil { net.inserted.insert(row) } else { net.modified[row] = [-1: nil] }
    }
    let table = !Self.isLarge(changes) && !changes.modifications.isEmpty ? try old.table(ofID: id) : nil
    for change in changes.modifications where !net.inserted.contains(change.key) {
      for column in change.columns where net.modified[change.key]?[column] == nil {
        // A value that can't be read counts as changed, so that its reader gets the error.
        let number = table.flatMap { try? Self.number(column, change.key, $0) }
        net.modified[change.key, default: [:]].updateValue(number, forKey: column)
      }
    }
    tables[id] = net
  }

  /// The hash of the value of a cell; nil for a collection of more than 1,000 elements, and if there is no such column
  /// or row.
  private static func number(_ column: Int, _ row: UInt64, _ table: Table) throws(StorageError) -> Int? {
    guard table.schema.columns.indices.contains(column) else { return nil }
    let stored = table.schema.columns[column]
    if stored.isCollection {
      let count =
        stored.collection == .list
        ? try table.list(column, ofRow: row)?.count : try table.sorted(column, ofRow: row)?.count
      if count ?? 0 > mostKept { return nil }
    }
    return try table.value(table.schema.columns[column], ofRow: row)?.hashValue
  }

  /// The changes from the first version to the last one, by the id of the table.
  ///
  /// - Parameter version: the version to which the last step led.
  package func changes(in version: Snapshot) throws(StorageError) -> [UInt32: TableChanges] {
    if isOneStep { return onlyStep }
    var found: [UInt32: TableChanges] = [:]
    for (id, net) in tables {
      var changes = TableChanges()
      changes.deletions = net.deleted.sorted()
      changes.insertions = net.inserted.sorted()
      // The rows of a table that can't be read count as changed, so that their reader gets the error.
      let table = net.modified.isEmpty ? nil : try? version.table(ofID: id)
      for (row, columns) in net.modified.sorted(by: { $0.key < $1.key }) {
        var differing: [Int] = []
        for (column, number) in columns {
          if column < 0 {
            differing = table.map { Array($0.schema.columns.indices) } ?? []
            break
          }
          if let number, let table, (try? Self.number(column, row, table)) == number { continue }
          differing.append(column)
        }
        if !differing.isEmpty { changes.modifications.append(.init(key: row, columns: differing.sorted())) }
      }
      if !changes.isEmpty { found[id] = changes }
    }
    return found
  }
}
