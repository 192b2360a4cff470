/// The tables and columns that a version has and an older version lacks.
struct SchemaDiff {
  /// A table of the newer version, with its schema in the older version, which is nil if the table is new.
  struct Pair {
    var old: TableSchema?
    var new: TableSchema
  }

  private let all: [Pair]
  private let isAskedFor: (TableSchema) -> Bool

  /// The tables that are asked for, in ascending order of their ids.
  var pairs: [Pair] { all.filter { isAskedFor($0.new) } }

  /// - Parameters:
  ///   - old: the tables of the older version, in ascending order of their ids, as in `new`.
  ///   - path: the path of the file, for errors.
  ///   - isAskedFor: says whether a table is compared.
  /// - Throws: `.schemaChanged` if the newer version lacks a compared table of the older version or one of its columns,
  ///   or has it in another form. Indexes count only if they make a column the primary key.
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
    // New columns come after all others.
    for (place, column) in old.columns.enumerated() {
      guard place < new.columns.count, column.isSame(as: new.columns[place]) else {
        throw .schemaChanged(table: old.name, column: column.name, path: path)
      }
    }
  }

  /// The changes that add tables and columns. The table that a link leads to is made before the column of the link, so
  /// some columns of a new table may be added after all tables.
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
  /// The table with only the columns before a place. The other columns are added later, with the ids that they have.
  fileprivate func beginning(before place: Int?) -> TableSchema {
    var schema = self
    // The table that is made from this schema has no clusters yet.
    schema.droppedColumns = []
    guard let place else { return schema }
    schema.columns.removeSubrange(place...)
    schema.nextColumnID = UInt32(columns[place].id)
    return schema
  }
}

extension Column {
  /// Whether the values of rows in the column have the same meaning in both versions.
  fileprivate func isSame(as other: Column) -> Bool {
    id == other.id && role == other.role && name.utf8.elementsEqual(other.name.utf8) && type == other.type
      && collection == other.collection && isOptional == other.isOptional && target == other.target
      && (index == .unique) == (other.index == .unique)
      // The default of an optional column is not used: new rows have null.
      && (isOptional || storedDefault == other.storedDefault)
  }
}
