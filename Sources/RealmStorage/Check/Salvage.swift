/// Reads what a version holds, goes on behind nodes that are damaged, and tells what is lost with each of them.
///
/// A damaged leaf loses its rows or entries, a damaged branch all that are below it; a damaged piece, dictionary or long
/// value loses the values that stand in it, and the rows keep their others. Nodes are verified as by every reader, so
/// nothing is made up. Takes time in proportion to the rows, entries and bytes there are. Keys must go on in order, so no leaf
/// is gone through twice, however a file was forged.
package final class Salvage {
  /// A table whose schema can be read.
  package struct SalvagedTable: Sendable {
    package let schema: TableSchema
    let root: TableRoot
    /// Rows as the table tells; 0 where that can't be read.
    package var count: UInt64 { root.rows }
  }

  /// A named tree whose name can be read.
  package struct SalvagedTree: Sendable {
    package let name: String
    let root: Ref
    /// Entries as the tree tells; 0 where that can't be read.
    package let count: UInt64
  }

  let source: any NodeReader
  /// The tables whose schema can be read, hidden ones left out, in the order of their ids.
  package private(set) var tables: [SalvagedTable] = []
  /// The named trees that can be found, in the order of their names.
  package private(set) var trees: [SalvagedTree] = []
  /// The losses found so far, in the order they were found.
  package private(set) var losses: [Loss] = []
  /// The position in `losses` of the entry that counts the lost values of one column and damaged node.
  private var lostCells: [CellPlace: Int] = [:]

  private struct CellPlace: Hashable {
    var part: FilePart
    var offset: UInt64?
  }

  /// Finds the tables and the named trees.
  ///
  /// - Throws: where the system refuses, which tells nothing about the bytes. So does all reading.
  package init(_ source: any NodeReader) throws(StorageError) {
    self.source = source
    var catalogue = Catalogue()
    do throws(StorageError) {
      // Damage of the named slots hides nothing that this version knows.
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

  /// Calls `body` with each entry of a named tree that can be read, in order, until it answers false; the value is nil where
  /// it can't.
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
        // The key after this one is this one and a zero.
        try self.lose(.values, of: part, count: 1, keys: .entries(from: key, below: key + [0]), error)
      }
      return try body(key, contents)
    }
  }

  /// Notes a loss.
  ///
  /// - Throws: the error itself where it is none of damage: what the system refuses may be there all the same.
  func lose(
    _ what: Loss.What, of part: FilePart, count: UInt64?, keys: Loss.Keys, _ error: StorageError
  ) throws(StorageError) {
    guard case .corrupted(let damage, _) = error else { throw error }
    losses.append(Loss(what: what, part: part, count: count, keys: keys, damage: damage))
  }

  /// Notes that a row lost its value of a column: one loss for each node that is damaged.
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

/// Describes the nodes of a tree, so that a loss can say what a damaged one held.
struct SalvagedNodes {
  var part: FilePart
  var what: Loss.What
}
