import RealmStorage

/// What a database of named trees is to hold, kept in memory beside it.
package struct Content: Equatable, Sendable {
  package var trees: [String: [[UInt8]: [UInt8]]] = [:]

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
    return hash.value
  }
}

private struct Fingerprint {
  var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ bytes: [UInt8]) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    value = (value ^ UInt64(bytes.count)) &* 0x9e37_79b9_7f4a_7c15
  }
}
