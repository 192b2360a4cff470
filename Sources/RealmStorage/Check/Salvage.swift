/// Reads the content of a version, continues behind damaged nodes, and reports what is lost with each of them.
///
/// A damaged leaf loses its rows or entries, and a damaged branch all that are below it. A damaged piece, dictionary or
/// long value loses the values in it, and the rows keep their other values. Nodes are verified as for every reader, so
/// no content is made up. The time is proportional to the rows, entries and bytes. Keys must be in ascending order, so
/// no leaf is read twice, however a file was forged.
package final class Salvage {
  /// A table whose schema can be read.
  package struct SalvagedTable: Sendable {
    package let schema: TableSchema
    let root: TableRoot
    /// The number of rows, as the table's root says; 0 if the root can't be read.
    package var count: UInt64 { root.rows }
  }

  /// A named tree whose name can be read.
  package struct SalvagedTree: Sendable {
    package let name: String
    let root: Ref
    /// The number of entries, as the tree's root says; 0 if the root can't be read.
    package let count: UInt64
  }

  let source: any NodeReader
  /// The tables whose schema can be read, hidden ones left out, in the order of their ids.
  package private(set) var tables: [SalvagedTable] = []
  /// The named trees that can be found, in the order of their names.
  package private(set) var trees: [SalvagedTree] = []
  /// The losses so far, in the order in which they were found.
  package private(set) var losses: [Loss] = []
  /// The position in `losses` of the loss that counts the lost values for a column and a damaged node.
  private var lostCells: [CellPlace: Int] = [:]

  private struct CellPlace: Hashable {
    var part: FilePart
    var offset: UInt64?
  }

  /// Finds the tables and the named trees.
  ///
  /// - Throws: Errors of the system, which say nothing about the bytes. All reading throws these too.
  package init(_ source: any NodeReader) throws(StorageError) {
    self.source = source
    var catalogue = Catalogue()
    do throws(StorageError) {
      // Damage of the named slots hides nothing that this version of the library knows.
      catalogue = try Catalogue(slotsOf: source.root, source.access())
    } catch {
      try lose(.everything, of: FilePart(role: .catalogue), count: nil, keys: .unknown, error)
    }
    do throws(StorageError) {
      try NamedSlots.checkReadable(catalogue.namedSlots, source.access())
    } catch {
      guard error.isDamage else { throw error }
    }
    try findTables(catalogue)
    try findTrees(catalogue)
  }

  private func findTables(_ catalogue: Catalogue) throws(StorageError) {
    var schemas: [TableSchema] = []
    let tree = SalvagedNodes(part: FilePart(role: .catalogue), what: .tables)
    try forEachEntry(below: catalogue.schema, tree) {
      (key, value, leaf, access) throws(StorageError) in
      do throws(StorageError) {
        let id = key.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard key.count == 4 else { throw access.corrupted(.structure, leaf) }
        schemas.append(try Tables.schema(value, id, leaf, access))
      } catch {
        try self.lose(.tables, of: tree.part, count: 1, keys: .unknown, error)
      }
      return true
    }
    let source = source
    for schema in schemas where !schema.isHidden {
      var root = TableRoot()
      do throws(StorageError) {
        root = try Tables.root(of: schema.id, catalogue, source.access())
      } catch {
        try lose(.rows, of: .table(schema), count: nil, keys: .unknown, error)
      }
      tables.append(SalvagedTable(schema: schema, root: root))
    }
  }

  private func findTrees(_ catalogue: Catalogue) throws(StorageError) {
    let tree = SalvagedNodes(part: FilePart(role: .catalogue), what: .trees)
    try forEachEntry(below: catalogue.namedTrees, tree) {
      (key, value, leaf, access) throws(StorageError) in
      if let name = NamedTrees.name(key), value.bytes.byteCount == 0 {
        let root = value.ref ?? .null
        let count = (try? OrderedTree.count(root, access)) ?? 0
        self.trees.append(SalvagedTree(name: name, root: root, count: count))
      } else {
        let error = access.corrupted(.structure, leaf)
        try self.lose(.trees, of: tree.part, count: 1, keys: .unknown, error)
      }
      return true
    }
  }

  /// Calls `body` with each entry of a named tree that can be read, in order, until it returns false. The value is nil
  /// if it can't be read.
  package func forEachEntry(
    of tree: SalvagedTree,
    _ body: (_ key: [UInt8], _ value: [UInt8]?) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let part = FilePart(role: .tree, name: tree.name)
    try forEachEntry(below: tree.root, SalvagedNodes(part: part, what: .entries)) {
      (key, value, _, access) throws(StorageError) in
      var contents: [UInt8]?
      do throws(StorageError) {
        contents = try value.contents(access)
      } catch {
        // The next possible key is this key with a zero byte added.
        try self.lose(.values, of: part, count: 1, keys: .entries(from: key, below: key + [0]), error)
      }
      return try body(key, contents)
    }
  }

  /// Records a loss.
  ///
  /// - Throws: `error` itself, if it is not about damage. Bytes that the system refuses to read may still be there.
  func lose(
    _ what: Loss.What, of part: FilePart, count: UInt64?, keys: Loss.Keys, _ error: StorageError
  ) throws(StorageError) {
    guard case .corrupted(let damage, _) = error else { throw error }
    losses.append(Loss(what: what, part: part, count: count, keys: keys, damage: damage))
  }

  /// Records that a row lost its value of a column. There is one loss for each column and damaged node.
  func loseCell(of part: FilePart, row key: UInt64, _ error: StorageError) throws(StorageError) {
    guard case .corrupted(let damage, _) = error else { throw error }
    let place = CellPlace(part: part, offset: damage.offset)
    if let index = lostCells[place], case .rows(let keys) = losses[index].keys {
      losses[index].count = (losses[index].count ?? 0) + 1
      losses[index].keys = .rows(min(keys.lowerBound, key)..<max(keys.upperBound, key + 1))
    } else {
      lostCells[place] = losses.count
      try lose(.cells, of: part, count: 1, keys: .rows(key..<key + 1), error)
    }
  }
}

/// Describes the nodes of a tree, so that a loss can say what a damaged node held.
struct SalvagedNodes {
  var part: FilePart
  var what: Loss.What
}
