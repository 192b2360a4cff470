import RealmStorage

/// The expected content of a database of named trees and perhaps of tables, kept in memory.
package struct Content: Equatable, Sendable {
  package var trees: [String: [[UInt8]: [UInt8]]] = [:]
  /// The table of things, if there is one.
  package var things: TableModel?
  /// The table whose lists have ids of elements, and its id, if there is such a table.
  package var linked: Linked?

  package struct Linked: Equatable, Sendable {
    package var model = CompanionModel()
    package var table: UInt32

    package init(table: UInt32) { self.table = table }
  }

  package init() {}

  /// The number of rows of the tables and entries of the trees.
  package var entries: UInt64 {
    let rows = (things?.rows.count ?? 0) + (linked?.model.rows.count ?? 0)
    return trees.values.reduce(UInt64(rows)) { $0 + UInt64($1.count) }
  }

  /// A number that is different for nearly all different contents.
  package var fingerprint: UInt64 {
    var hash = Fingerprint()
    for (name, tree) in trees.sorted(by: { $0.key < $1.key }) where !tree.isEmpty {
      hash.add(Array(name.utf8))
      for (key, value) in tree.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        hash.add(key)
        hash.add(value)
      }
    }
    things?.addTo(&hash)
    linked?.model.addTo(&hash, table: linked?.table ?? 0)
    return hash.value
  }

  /// The fingerprint of the content of a snapshot, which equals `fingerprint` for the same content.
  package static func fingerprint(of snapshot: Snapshot) throws -> UInt64 {
    var hash = Fingerprint()
    for name in try snapshot.treeNames() {
      let tree = try snapshot.tree(name)
      guard try tree.count() > 0 else { continue }
      hash.add(Array(name.utf8))
      try tree.forEach { key, value in
        hash.add(key)
        hash.add(value)
        return true
      }
    }
    if let table = try snapshot.table(TableModel.name) { try TableModel.add(table, to: &hash) }
    if let table = try snapshot.table(CompanionModel.name) { try CompanionModel.add(table, to: &hash) }
    return hash.value
  }
}
