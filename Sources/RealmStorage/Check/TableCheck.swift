/// Checks what the nodes of a version's tables mean together:
/// - the order of keys, the counts, and each value;
/// - indexes have an entry for each row and no others;
/// - links lead to rows that exist, and the link indexes have each link;
/// - each embedded row has one owner.
struct TableCheck {
  /// A table and the node that it starts from. An error about something that is missing names this node.
  private struct Table {
    var schema: TableSchema
    var root: TableRoot
    var ref: Ref
  }

  private let tables: [UInt32: Table]
  /// The number of correct entries that were found in the link index of each table.
  private var linkEntries: [UInt32: UInt64] = [:]
  /// The number of correct entries for links to rows that each table lacks.
  private var absentEntries: [UInt32: UInt64] = [:]
  private(set) var rows: UInt64 = 0
  /// The first finding of each table.
  private(set) var findings: [StorageError] = []

  /// The number of rows of all tables, as the tables' roots say.
  var expectedRows: UInt64 { tables.values.reduce(0) { $0 &+ $1.root.rows } }

  init(_ catalogue: Catalogue, _ access: borrowing NodeAccess) throws(StorageError) {
    var tables: [UInt32: Table] = [:]
    for schema in try Tables.schemas(catalogue, access) {
      guard schema.id <= catalogue.lastTable else { throw access.corrupted(.structure, catalogue.schema) }
      let ref = try Tables.ref(of: schema.id, catalogue, access)
      tables[schema.id] = Table(schema: schema, root: try TableRoot(ref, access), ref: ref)
    }
    self.tables = tables
  }

  /// - Parameter progress: Called now and then with the number of rows that were checked.
  mutating func run(_ reader: any NodeReader, progress: (UInt64) -> Void) {
    let inOrder = tables.sorted { $0.key < $1.key }.map(\.value)
    for table in inOrder {
      do { try check(table, reader, progress) } catch {
        findings.append(error.naming(.table(table.schema)))
      }
    }
    // If a table was not checked to its end, not all links are known.
    guard findings.isEmpty else { return }
    for table in inOrder {
      do { try checkLinkIndex(table, reader) } catch {
        findings.append(error.naming(.links(table.schema)))
      }
      do { try checkAbsentLinkIndex(table, reader) } catch {
        findings.append(error.naming(.absentLinks(table.schema)))
      }
    }
  }

  private func checkAbsentLinkIndex(_ table: Table, _ reader: any NodeReader) throws(StorageError) {
    let root = table.root.absentLinks
    let entries = try OrderedTree.check(root, reader) { _, _ in }
    guard entries == absentEntries[table.schema.id] ?? 0 else {
      throw reader.access().corrupted(.link, root.isNull ? table.ref : root)
    }
  }

  private func checkLinkIndex(_ table: Table, _ reader: any NodeReader) throws(StorageError) {
    let entries = try OrderedTree.check(table.root.links, reader) { _, _ in }
    guard entries == linkEntries[table.schema.id] ?? 0 else {
      throw reader.access().corrupted(.link, table.root.links.isNull ? table.ref : table.root.links)
    }
    guard !table.schema.isEmbedded || entries == table.root.rows else {
      throw reader.access().corrupted(.link, table.ref)
    }
  }

  private mutating func check(
    _ table: Table, _ reader: any NodeReader, _ progress: (UInt64) -> Void
  ) throws(StorageError) {
    let (schema, root) = (table.schema, table.root)
    try checkDictionaries(table, reader)
    let found = try KeyedTree.check(root.clusters, reader) { (leaf, access) throws(StorageError) in
      let cluster = try checkCluster(leaf, table, reader, access)
      rows += cluster.rows
      progress(rows)
      return cluster
    }
    guard found == root.rows else { throw reader.access().corrupted(.rows, table.ref) }
    for entry in root.indexes.all where !schema.unknown.foreignIndexes.contains(entry.id) {
      guard let column = schema.columns.first(where: { $0.index != .none && $0.indexID == entry.id }) else {
        throw reader.access().corrupted(.structure, table.ref)
      }
      do throws(StorageError) {
        let entries: UInt64
        if IntegerIndex.serves(column) {
          entries = try IntegerIndex.check(entry.root, reader) { _ in }
        } else {
          entries = try OrderedTree.check(entry.root, reader) { _, _ in }
        }
        guard entries == root.rows else { throw reader.access().corrupted(.index, entry.root) }
      } catch {
        throw error.naming(.index(column, schema))
      }
    }
  }

  /// True if each column of a cluster is in the schema, or was dropped and its space is not given back yet.
  private func holdsKnownColumns(_ cluster: borrowing ClusterNode, _ table: Table) -> Bool {
    let schema = table.schema
    // A later version of the library may keep columns for a feature that this version does not know.
    guard schema.unknown == UnknownAttributes(), !schema.isDropped else { return true }
    let isSwept = cluster.key(cluster.rows - 1) < table.root.swept
    for place in 0..<cluster.columnCount {
      let id = cluster.descriptor(place).column
      guard id != ClusterNode.keyColumn, !schema.columns.contains(where: { $0.id == id }) else { continue }
      guard !isSwept, schema.droppedColumns.contains(id) else { return false }
    }
    return true
  }

  private func checkDictionaries(_ table: Table, _ reader: any NodeReader) throws(StorageError) {
    for entry in table.root.dictionaries.all {
      let column = table.schema.columns.first { $0.id == entry.id }
      guard let column, column.storage == .varying else {
        throw reader.access().corrupted(.structure, table.ref)
      }
      do { _ = try ColumnDictionary.check(entry.root, of: column, reader) } catch {
        throw error.naming(.column(column, table.schema))
      }
    }
  }

  private mutating func checkCluster(
    _ ref: Ref, _ table: Table, _ reader: any NodeReader, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (rows: UInt64, keys: ClosedRange<UInt64>) {
    let cluster = ClusterNode(try access.node(ref, .cluster))
    guard cluster.tellsBoundsRight(), holdsKnownColumns(cluster, table) else {
      throw access.corrupted(.structure, ref)
    }
    let dictionaries = table.root.dictionaries
    for column in table.schema.columns {
      let part = FilePart.column(column, table.schema)
      if cluster.needsDictionary(column), dictionaries[column.id].isNull {
        throw access.corrupted(.code, ref).naming(part)
      }
      var trees = 0
      for row in 0..<cluster.rows {
        let key = cluster.key(row)
        let value: Value
        do throws(StorageError) {
          if let tree = try cluster.tree(ofCell: column, row, access) {
            trees += 1
            try checkTree(tree, column, key, table, reader, access)
            continue
          }
          value = try TableReading.value(column, row, of: cluster, dictionaries.view, access)
        } catch {
          throw error.naming(part)
        }
        guard column.accepts(value) else { throw access.corrupted(.structure, ref).naming(part) }
        if column.index != .none { try checkIndex(value, column, key, table, access) }
        if column.canLink { try checkLinks(value.linkTargets(of: column), column, key, table, access) }
        var ids = FoundNestedIDs(below: table.root.nextNested)
        guard ids.add(value, of: column) else { throw access.corrupted(.structure, ref).naming(part) }
      }
      // Each tree must be the collection of a row.
      guard trees == Int(cluster.trees(of: column.id)?.greatest ?? 0) else {
        throw access.corrupted(.structure, ref).naming(part)
      }
    }
    let companions = CompanionCheck(table.schema, table.root)
    if companions.isNeeded {
      for row in 0..<cluster.rows {
        var entries: Set<[UInt8]> = []
        try companions.check(row, of: cluster, ref, access) { (found) throws(StorageError) in
          try check(found, table, access, &entries)
        }
      }
    }
    let last = cluster.key(cluster.rows - 1)
    guard last < table.root.nextKey else { throw access.corrupted(.keyOrder, ref) }
    return (UInt64(cluster.rows), cluster.key(0)...last)
  }

  /// Verifies that a row does not exist, and that its table has an entry for the link.
  ///
  /// - Parameter entries: The entries that were found for the linking row so far.
  private mutating func check(
    _ found: CompanionCheck.Found, _ table: Table, _ access: borrowing NodeAccess,
    _ entries: inout Set<[UInt8]>
  ) throws(StorageError) {
    let link = found.link
    guard let target = tables[link.table] else {
      throw access.corrupted(.structure, table.ref).naming(.table(table.schema))
    }
    let root = target.root.absentLinks
    if let column = target.schema.primaryKey, column.accepts(link.primaryKey) {
      let row = try IndexTree.row(with: link.primaryKey, of: column, table: target.root, access)
      guard row == nil else {
        throw access.corrupted(.link, root.isNull ? target.ref : root).naming(.absentLinks(target.schema))
      }
    }
    let key = AbsentLinkIndex.key(link.primaryKey, found.source)
    let isThere = try OrderedTree.find(key.span.bytes, in: root, access) { $0.bytes.byteCount == 0 }
    guard isThere == true else {
      throw access.corrupted(.link, root.isNull ? target.ref : root).naming(.absentLinks(target.schema))
    }
    // A cell with several links of one encoding has one entry. The key of an entry names its cell, but not the table
    // that the link leads to.
    if entries.insert(TableSchema.key(target.schema.id) + key).inserted {
      absentEntries[link.table, default: 0] += 1
    }
  }

  private func checkIndex(
    _ value: Value, _ column: Column, _ key: UInt64, _ table: Table, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    let index = table.root.index(of: column)
    do throws(StorageError) {
      if column.index == .unique {
        let first = try IndexTree.row(with: value, of: column, table: table.root, access)
        guard first == key else { throw access.corrupted(.index, index.isNull ? table.ref : index) }
        if IntegerIndex.serves(column) { return }
      }
      var entry = IndexKey.encode(value, of: column)
      IndexKey.appendRow(key, to: &entry)
      let isThere = try OrderedTree.find(entry.span.bytes, in: index, access) { _ in true }
      guard isThere == true else { throw access.corrupted(.index, index.isNull ? table.ref : index) }
    } catch {
      throw error.naming(.index(column, table.schema))
    }
  }

  /// Verifies a collection that is a tree, and the links in it.
  private mutating func checkTree(
    _ tree: Ref, _ column: Column, _ key: UInt64, _ table: Table, _ reader: any NodeReader,
    _ access: borrowing NodeAccess
  ) throws(StorageError) {
    var targets: [LinkTarget] = []
    var ids = FoundNestedIDs(below: table.root.nextNested)
    try CollectionForm.check(tree, column, reader) { (element) throws(StorageError) in
      if column.canLink { targets += element.linkTargets(of: column) }
      guard ids.add(element) else {
        throw access.corrupted(.structure, tree).naming(.column(column, table.schema))
      }
    }
    try checkLinks(targets, column, key, table, access)
  }

  private mutating func checkLinks(
    _ targets: [LinkTarget], _ column: Column, _ key: UInt64, _ table: Table, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    var counts: [LinkTarget: UInt64] = [:]
    for target in targets { counts[target, default: 0] += 1 }
    for (place, count) in counts {
      guard let target = tables[place.table] else {
        throw access.corrupted(.structure, table.ref).naming(.column(column, table.schema))
      }
      guard try TableReading.contains(place.row, in: target.root.clusters, access) else {
        throw access.corrupted(.link, table.root.clusters).naming(.column(column, table.schema))
      }
      var entry = LinkIndex.head(target: place.row, table: table.schema.id, column: column.id)
      IndexKey.appendRow(key, to: &entry)
      let links = target.root.links
      let stored = try OrderedTree.find(entry.span.bytes, in: links, access) { $0.bytes.array }
      guard let stored, LinkIndex.count(stored) == count else {
        throw access.corrupted(.link, links.isNull ? target.ref : links).naming(.links(target.schema))
      }
      linkEntries[place.table, default: 0] += 1
      if target.schema.isEmbedded {
        // This must be the only link to the row. If there are as many links as rows, each row then has one.
        let all = try LinkIndex.count(LinkIndex.targetHead(place.row), in: links, access)
        guard count == 1, all == 1 else { throw access.corrupted(.link, links).naming(.links(target.schema)) }
      }
    }
  }
}

/// The ids of the lists and maps in mixed values of a cell. Each id must be there only once, and must have been given.
private struct FoundNestedIDs {
  private let end: UInt64
  private var found: Set<UInt64> = []

  init(below end: UInt64) { self.end = end }

  /// Adds the ids of a cell. Returns false if an id is wrong.
  mutating func add(_ value: Value, of column: Column) -> Bool {
    guard column.type == .mixed, value.isNested else { return true }
    guard column.isCollection else { return add(value) }
    for element in value.elements ?? [] { if !add(element) { return false } }
    return true
  }

  /// Adds the ids of a mixed value. Returns false if an id is wrong.
  mutating func add(_ value: Value) -> Bool {
    guard value.isNested else { return true }
    guard value.nestedID > 0, value.nestedID < end, found.insert(value.nestedID).inserted else {
      return false
    }
    for element in value.elements ?? [] { if !add(element) { return false } }
    return true
  }
}

extension ClusterNode {
  /// The tree of a row's collection; nil if the collection is not a tree.
  fileprivate func tree(
    ofCell column: Column, _ row: Int, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Ref? {
    guard column.isCollection, let part = composite(of: column.id) else { return nil }
    return try cell(part, row, dictionary: .null, access.lent).tree
  }

  /// True if some rows have codes in a column.
  fileprivate func needsDictionary(_ column: Column) -> Bool {
    guard column.storage == .varying, let descriptor = part(of: column) else { return false }
    return descriptor.encoding == .codes && Int(descriptor.nullCount) < rows
  }
}
