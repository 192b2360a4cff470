import RealmStorage

/// What a database of named trees, and perhaps a table, is to hold, kept in memory beside it.
package struct Content: Equatable, Sendable {
  package var trees: [String: [[UInt8]: [UInt8]]] = [:]
  /// The table of things, where there is one.
  package var things: TableModel?

  package init() {}

  /// A number that differs for most contents.
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
    return hash.value
  }

  /// The same number of what a snapshot holds.
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
    return hash.value
  }
}
