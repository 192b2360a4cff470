/// The changes of tables between a version that somebody was told of and the newest one, though the versions in between are gone.
///
/// Changes of several steps are folded into one: a row that came and went is none, and one whose values are again what they were has not changed. For
/// that the values that a step changed are kept as numbers made of them, of 1,000 rows of a table in a step at most: of more, all rows whose values changed
/// in between count as changed.
package struct NetChanges {
  private struct Net {
    var inserted: Set<UInt64> = []
    var deleted: Set<UInt64> = []
    /// The number that stood for the first value, by row and the position of the column; nil where that is not known.
    var modified: [UInt64: [Int: Int?]] = [:]
  }

  private var tables: [UInt32: Net] = [:]
  private var isOneStep = false
  private var onlyStep: [UInt32: TableChanges] = [:]

  package init() {}

  package var isEmpty: Bool { tables.isEmpty && onlyStep.isEmpty }

  private static let mostKept = 1_000

  private static func isLarge(_ changes: TableChanges) -> Bool { changes.modifications.count > mostKept }

  /// Adds what a step changed in some tables.
  package mutating func add(_ step: VersionStep, _ ids: Set<UInt32>) throws(StorageError) {
    var changed: [UInt32: TableChanges] = [:]
    for id in ids {
      let changes = try step.changes(of: id)
      if !changes.isEmpty { changed[id] = changes }
    }
    if changed.isEmpty { return }
    if isEmpty {
      (onlyStep, isOneStep) = (changed, true)
      // No numbers are kept of many rows: their changes are folded when another step comes.
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
      // The deletion was undone.
      if net.deleted.remove(row) == nil { net.inserted.insert(row) } else { net.modified[row] = [-1: nil] }
    }
    let table = !Self.isLarge(changes) && !changes.modifications.isEmpty ? try old.table(ofID: id) : nil
    for change in changes.modifications where !net.inserted.contains(change.key) {
      for column in change.columns where net.modified[change.key]?[column] == nil {
        // A damaged value counts as changed: who reads it is told of the damage.
        let number = table.flatMap { try? Self.number(column, change.key, $0) }
        net.modified[change.key, default: [:]].updateValue(number, forKey: column)
      }
    }
    tables[id] = net
  }

  /// Stands for a value; nil of a long collection.
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

  /// The changes from the version that somebody was told of to the last one.
  ///
  /// - Parameter version: the one that the last step led to.
  package func changes(in version: Snapshot) throws(StorageError) -> [UInt32: TableChanges] {
    if isOneStep { return onlyStep }
    var found: [UInt32: TableChanges] = [:]
    for (id, net) in tables {
      var changes = TableChanges()
      changes.deletions = net.deleted.sorted()
      changes.insertions = net.inserted.sorted()
      // Rows of a table that can't be read count as changed: who reads them is told of the damage.
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
