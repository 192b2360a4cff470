/// Where the bytes of a file go.
package struct SpaceReport: Sendable {
  package struct Part: Sendable, Equatable {
    package var name: String
    package var nodes = 0
    /// Bytes of the nodes' extents.
    package var bytes: UInt64 = 0
    package var entries: UInt64 = 0
  }

  /// The catalogue, and each named tree with its long values.
  package private(set) var parts: [Part] = []
  /// The same nodes by kind.
  package private(set) var kinds: [Part] = []
  /// Bytes of the two meta pages.
  package let metaBytes = UInt64(2 * FilePlace.page)
  package let fileBytes: UInt64

  package var liveBytes: UInt64 { parts.reduce(0) { $0 + $1.bytes } }
  /// Bytes that nothing in this version reaches: free, rounded up to pages, or kept for older versions.
  package var otherBytes: UInt64 { fileBytes - min(fileBytes, liveBytes + metaBytes) }

  /// Takes time in proportion to the nodes that hold refs: leaves without refs are not read.
  package init(_ snapshot: Snapshot) throws(StorageError) {
    fileBytes = try snapshot.database.store.storage.length()
    let store = snapshot.database.store
    let access = snapshot.access()
    let catalogue = try Catalogue(snapshot.root, access)
    var roots: [(name: String, ref: Ref)] = []
    var cursor = TreeCursor(catalogue.namedTrees)
    try cursor.seekFirst(access)
    while cursor.isValid {
      try cursor.withEntry(access) { (leaf, index) in
        if let ref = leaf.value(index).ref {
          roots.append((String(decoding: leaf.key(index), as: UTF8.self), ref))
        }
      }
      try cursor.next(access)
    }
    var walk = Walk(store: store, stopAt: Set(roots.map(\.ref)))
    var part = Part(name: "catalogue")
    try walk.visit(snapshot.root, &part, access)
    parts.append(part)
    for (name, root) in roots {
      part = Part(name: "tree \(name)")
      walk.stopAt = []
      try walk.visit(root, &part, access)
      part.entries = try OrderedTree.count(root, access)
      parts.append(part)
    }
    kinds = walk.kinds.values.sorted { $0.name < $1.name }
  }

  private struct Walk {
    let store: NodeStore
    /// Roots that are counted as parts of their own.
    var stopAt: Set<Ref>
    var kinds: [UInt8: Part] = [:]
    var visited: Set<Ref> = []

    mutating func visit(_ ref: Ref, _ part: inout Part, _ access: borrowing NodeAccess) throws(StorageError) {
      guard !ref.isNull, !stopAt.contains(ref) else { return }
      if ref.level > 0, !visited.insert(ref).inserted { throw store.corrupted(.overlap, ref) }
      let bytes = UInt64(store.units(ofLength: ref.length) * Ref.unit)
      part.nodes += 1
      part.bytes += bytes
      kinds[ref.rawKind, default: Part(name: ref.kind?.name ?? "unknown")].nodes += 1
      kinds[ref.rawKind]?.bytes += bytes
      for child in try access.children(of: ref) { try visit(child, &part, access) }
    }
  }
}
