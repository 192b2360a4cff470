/// The tables and columns that a version has more than an older one.
struct SchemaDiff {
  /// A table of both versions whose rows are compared, or one of the newer version alone.
  struct Pair {
    var old: TableSchema?
    var new: TableSchema
  }

  private let all: [Pair]
  private let isAskedFor: (TableSchema) -> Bool

  /// Those that are asked for, by growing id.
  var pairs: [Pair] { all.filter { isAskedFor($0.new) } }

  /// - Parameters:
  ///   - old: by growing id, as `new`.
  ///   - path: of the file.
  ///   - isAskedFor: whether a table is compared.
  /// - Throws: `.schemaChanged` where the newer version has not all that the older one has, as it was. Indexes count only where they
  ///   make a column the primary key.
  init(
    from old: [TableSchema], to new: [TableSchema], path: String,
    _ isAskedFor: @escaping (TableSchema) -> Bool
  ) throws(StorageError) {
    var pairs: [Pair] = []
    for after in new {
      let before = old.first { $0.id == after.id }
      if let before, isAskedFor(before) { try Self.expectAdditions(from: before, to: after, path) }
      pairs.append(Pair(old: before, new: after))
    }
    for before in old where isAskedFor(before) && !new.contains(where: { $0.id == before.id }) {
      throw .schemaChanged(table: before.name, column: nil, path: path)
    }
    all = pairs
    self.isAskedFor = isAskedFor
  }

  private static func expectAdditions(
    from old: TableSchema, to new: TableSchema, _ path: String
  ) throws(StorageError) {
    guard old.name.utf8.elementsEqual(new.name.utf8), old.isEmbedded == new.isEmbedded,
      old.hasElementIDs == new.hasElementIDs
    else {
      throw .schemaChanged(table: old.name, column: nil, path: path)
    }
    // Columns are added behind all others.
    for (place, column) in old.columns.enumerated() {
      guard place < new.columns.count, column.isSame(as: new.columns[place]) else {
        throw .schemaChanged(table: old.name, column: column.name, path: path)
      }
    }
  }

  /// The changes that add tables and columns. A link's table is made before the column that links to it, so a new table may
  /// get some of its columns behind the tables.
  var changes: [RowChange] {
    var made = Set(all.filter { $0.old != nil }.map(\.new.id))
    var changes: [RowChange] = []
    var columns: [RowChange] = []
    for pair in all {
      let id = pair.new.id
      var added = pair.new.columns.dropFirst(pair.old?.columns.count ?? 0)
      if pair.old == nil {
        made.insert(id)
        let links = added.firstIndex { $0.type == .link && !made.contains($0.target) }
        changes.append(RowChange(table: id, .createTable(pair.new.beginning(before: links))))
        added = links.map { added[$0...] } ?? []
      }
      columns += added.map { RowChange(table: id, .addColumn($0)) }
    }
    let asked = Set(pairs.map(\.new.id))
    return (changes + columns).filter { asked.contains($0.table) }
  }
}

extension TableSchema {
  /// The table with the columns before a place only: those behind it are added next, with the ids they have.
  fileprivate func beginning(before place: Int?) -> TableSchema {
    var schema = self
    // The table that is made of this schema has no clusters yet.
    schema.droppedColumns = []
    guard let place else { return schema }
    schema.columns.removeSubrange(place...)
    schema.nextColumnID = UInt32(columns[place].id)
    return schema
  }
}

extension Column {
  /// Whether what rows hold in the column means the same in both versions.
  fileprivate func isSame(as other: Column) -> Bool {
    id == other.id && role == other.role && name.utf8.elementsEqual(other.name.utf8) && type == other.type
      && collection == other.collection && isOptional == other.isOptional && target == other.target
      && (index == .unique) == (other.index == .unique)
      // Of an optional column it is of no account: new rows have null.
      && (isOptional || storedDefault == other.storedDefault)
  }
}
