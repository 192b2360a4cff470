/// A difference between the schemas of two databases, in one table. Indexes count only if they make a column the primary key.
public struct SchemaDifference: Sendable, Equatable {
  /// The name of the table.
  public var table: String
  /// What differs.
  public var change: Change

  /// What differs in a table.
  public enum Change: Sendable, Equatable {
    /// Only the newer database has the table.
    case tableAdded
    /// Only the older database has the table.
    case tableRemoved
    /// The objects of the table are embedded in only one of the databases: in the newer one if `isNow` is true. The rows of the
    /// table are not compared.
    case embedding(isNow: Bool)
    /// Only the newer database has the column.
    case columnAdded(Column)
    /// Only the older database has the column.
    case columnRemoved(Column)
    /// The column is defined in another way. If its type or its kind of collection differs, its values are not compared.
    case columnChanged(from: Column, to: Column)
  }
}

/// The tables of two databases, paired by their names, and the columns to compare.
struct ComparedSchemas {
  /// A table of one database, or of both.
  struct Pair {
    var name: String
    var old: TableSchema?
    var new: TableSchema?
    /// The columns that both tables have, paired by their names, and that have values of the same type.
    var columns: [(old: Column, new: Column)] = []

    var isEmbedded: Bool { old?.isEmbedded ?? new?.isEmbedded ?? false }
    /// Whether the rows of the tables are compared.
    var hasRows: Bool { old?.isEmbedded != true && new?.isEmbedded != true }
    /// The primary key that both tables have among `columns`.
    var primaryKey: (old: Column, new: Column)? {
      columns.first { $0.old.index == .unique && $0.new.index == .unique }
    }
  }

  /// The pairs, in the order of the older database, followed by those that only the newer one has.
  private(set) var pairs: [Pair] = []
  private(set) var differences: [SchemaDifference] = []

  /// Pairs the tables of two databases.
  ///
  /// - Parameter isAskedFor: whether the table with a name is compared. Only differences of these tables are told. Other tables
  ///   are paired too, because links lead to them.
  init(from old: [TableSchema], to new: [TableSchema], _ isAskedFor: (String) -> Bool) {
    let names = (
      old: Self.names(old), new: Self.names(new)
    )
    for before in old {
      guard let after = new.first(where: { $0.isNamed(before.name) }) else {
        pairs.append(Pair(name: before.name, old: before))
        if isAskedFor(before.name) { note(before.name, .tableRemoved) }
        continue
      }
      let found = Self.compare(before, after, names)
      pairs.append(Pair(name: before.name, old: before, new: after, columns: found.columns))
      if isAskedFor(before.name) { for change in found.changes { note(before.name, change) } }
    }
    for after in new where !old.contains(where: { $0.isNamed(after.name) }) {
      pairs.append(Pair(name: after.name, new: after))
      if isAskedFor(after.name) { note(after.name, .tableAdded) }
    }
  }

  private mutating func note(_ table: String, _ change: SchemaDifference.Change) {
    differences.append(SchemaDifference(table: table, change: change))
  }

  private typealias Names = [UInt32: String]

  private static func names(_ schemas: [TableSchema]) -> Names {
    // The ids come from the file, and may be equal in a forged one: the first counts.
    Dictionary(schemas.map { ($0.id, $0.name) }) { first, _ in first }
  }

  private static func compare(
    _ old: TableSchema, _ new: TableSchema, _ names: (old: Names, new: Names)
  ) -> (columns: [(old: Column, new: Column)], changes: [SchemaDifference.Change]) {
    var changes: [SchemaDifference.Change] = []
    var columns: [(old: Column, new: Column)] = []
    if old.isEmbedded != new.isEmbedded { changes.append(.embedding(isNow: new.isEmbedded)) }
    for before in old.properties {
      guard let after = new.column(before.name) else {
        changes.append(.columnRemoved(before))
        continue
      }
      let hasSameValues = before.type == after.type && before.collection == after.collection
      if hasSameValues { columns.append((before, after)) }
      let isSameTarget =
        before.type != .link
        || names.old[before.target].map { Array($0.utf8) }
          == names.new[after.target].map { Array($0.utf8) }
      if !hasSameValues || !isSameTarget || before.isOptional != after.isOptional
        || (before.index == .unique) != (after.index == .unique)
        || !before.isOptional && before.storedDefault != after.storedDefault
      {
        changes.append(.columnChanged(from: before, to: after))
      }
    }
    for after in new.properties where old.column(after.name) == nil { changes.append(.columnAdded(after)) }
    return (columns, changes)
  }
}
