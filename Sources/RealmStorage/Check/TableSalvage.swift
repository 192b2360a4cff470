/// The rows below a node, and what the branch above says of them.
private struct RowSubtree {
  var ref: Ref
  var keys: Range<UInt64>
  var rows: UInt64
}

/// A table that is being read, and the pieces of the current cluster that are known to be damaged. They are not read
/// again for each row, because that would take long on a failing disk.
private struct ClusterReader {
  let table: Salvage.SalvagedTable
  var damagedPieces: [Ref: StorageError] = [:]
  /// The trees of collections that were read. Each belongs to one row, but a forged file may name a tree many times.
  var trees: Set<Ref> = []
}

extension Salvage {
  /// A function that is called with each row. A lost value is nil. Returns whether to continue.
  package typealias RowBody = (_ key: UInt64, _ values: [Value?]) throws(StorageError) -> Bool

  /// Calls `body` with each row of a table that can be read, in order, until it returns false. The values have the
  /// order of the schema's columns; a value that can't be read is nil.
  package func forEachRow(of table: SalvagedTable, _ body: RowBody) throws(StorageError) {
    guard !table.root.clusters.isNull else { return }
    var reader = ClusterReader(table: table)
    let all = RowSubtree(ref: table.root.clusters, keys: 0..<table.root.nextKey, rows: table.root.rows)
    _ = try visit(all, &reader, body)
  }

  private func visit(
    _ subtree: RowSubtree, _ reader: inout ClusterReader, _ body: RowBody
  ) throws(StorageError) -> Bool {
    guard subtree.ref.isKeyedBranch else { return try visitCluster(subtree, &reader, body) }
    let source = source
    var children: [RowSubtree] = []
    do throws(StorageError) {
      children = try Self.children(of: subtree, source.access())
    } catch {
      try lose(subtree, reader, error)
    }
    for child in children { guard try visit(child, &reader, body) else { return false } }
    return true
  }

  private static func children(
    of subtree: RowSubtree, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [RowSubtree] {
    let branch = KeyedBranch(try access.node(subtree.ref, .keyedBranch))
    var children: [RowSubtree] = []
    for index in 0..<branch.count {
      // Rows with smaller keys than all keys of a branch would be in its first child.
      let least = index == 0 ? subtree.keys.lowerBound : branch.leastKey(index)
      let end = index + 1 < branch.count ? branch.leastKey(index + 1) : subtree.keys.upperBound
      guard least < end else { throw access.corrupted(.keyOrder, subtree.ref) }
      children.append(RowSubtree(ref: branch.child(index), keys: least..<end, rows: branch.rows(index)))
    }
    return children
  }

  private func visitCluster(
    _ subtree: RowSubtree, _ reader: inout ClusterReader, _ body: RowBody
  ) throws(StorageError) -> Bool {
    // This access ends with the function, so that decrypted nodes can leave the cache afterwards.
    let source = source
    let access = source.access()
    do throws(StorageError) {
      try Self.checkOrder(ofCluster: subtree, access)
    } catch {
      try lose(subtree, reader, error)
      return true
    }
    let cluster = ClusterNode(try access.node(subtree.ref, .cluster))
    let (schema, dictionaries) = (reader.table.schema, reader.table.root.dictionaries)
    reader.damagedPieces.removeAll()
    for row in 0..<cluster.rows {
      let key = cluster.key(row)
      var values: [Value?] = []
      values.reserveCapacity(schema.columns.count)
      for column in schema.columns {
        do throws(StorageError) {
          values.append(try reader.value(column, row, of: cluster, dictionaries.view, access))
        } catch {
          values.append(nil)
          try loseCell(of: .column(column, schema), row: key, error)
        }
      }
      guard try body(key, values) else { return false }
    }
    return true
  }

  private static func checkOrder(
    ofCluster subtree: RowSubtree, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    var least = subtree.keys.lowerBound
    for key in ClusterNode(try access.node(subtree.ref, .cluster)).keys() {
      guard key >= least, key < subtree.keys.upperBound else {
        throw access.corrupted(.keyOrder, subtree.ref)
      }
      least = key + 1
    }
  }

  private func lose(
    _ subtree: RowSubtree, _ reader: ClusterReader, _ error: StorageError
  ) throws(StorageError) {
    let part = FilePart.table(reader.table.schema)
    try lose(.rows, of: part, count: subtree.rows, keys: .rows(subtree.keys), error)
  }
}

extension ClusterReader {
  fileprivate mutating func value(
    _ column: Column, _ row: Int, of cluster: borrowing ClusterNode, _ dictionaries: ColumnTrees.View,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    if column.isCollection, let tree = cluster.tree(of: column.id, row), !trees.insert(tree).inserted {
      throw access.corrupted(.overlap, tree)
    }
    var piece: Ref?
    if column.storage.hasPieces, let descriptor = cluster.part(of: column),
      descriptor.encoding == .pieces
    {
      let ref = cluster.piece(descriptor, row).ref
      if let known = damagedPieces[ref] { throw known }
      piece = ref
    }
    do throws(StorageError) {
      return try TableReading.value(column, row, of: cluster, dictionaries, access)
    } catch {
      // The damage may also be in this value alone, or in a long value that the next row does not have.
      if let piece, case .corrupted(let damage, _) = error, damage.offset == piece.offset,
        damage.finding.isOfWholeNode
      {
        damagedPieces[piece] = error
      }
      throw error
    }
  }
}

extension Corruption.Finding {
  /// True if nothing of the node can be read.
  fileprivate var isOfWholeNode: Bool {
    switch self {
    case .checksum, .authentication, .header, .place, .order, .unreadable: true
    case .structure, .overlap, .rows, .keyOrder, .index, .link, .code, .metaPages, .metaPage: false
    }
  }
}
