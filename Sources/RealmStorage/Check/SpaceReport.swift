/// The number of bytes that each part of a file takes.
package struct SpaceReport: Sendable {
  package struct Space: Sendable, Equatable {
    package var nodes = 0
    /// The number of bytes of the nodes' extents.
    package var bytes: UInt64 = 0
  }

  package struct Part: Sendable, Equatable {
    package var part: FilePart
    package var space = Space()
    /// For a column: its bytes in the clusters of its table. For a table: the bytes of its rows' keys, which are stored
    /// only if the keys have gaps. These bytes are part of the table's `space`.
    package var packedBytes: UInt64 = 0
    /// The number of rows of a table, of values in the dictionary of a column, or of entries of an index, a link index
    /// or a named tree; 0 for other parts.
    package var entries: UInt64 = 0
  }

  /// The catalogue; each table, followed by its columns, indexes and link indexes; each named tree; each named slot.
  /// Each node counts once.
  package private(set) var parts: [Part] = []
  /// The space of the same nodes, by the name of their kind.
  package private(set) var kinds: [(name: String, space: Space)] = []
  /// The number of bytes of the two meta pages.
  package let metaBytes = UInt64(2 * FilePlace.page)
  package let fileBytes: UInt64

  package var liveBytes: UInt64 { parts.reduce(0) { $0 + $1.space.bytes } }
  /// The number of bytes that no node of this version takes: they are free, unused at the end of pages, or kept for
  /// older versions.
  package var otherBytes: UInt64 { fileBytes - min(fileBytes, liveBytes + metaBytes) }

  /// Takes time in proportion to the number of clusters and of nodes with refs. Leaves without refs are not read.
  ///
  /// - Parameter progress: Called now and then with the part of the file that was visited, from 0 to 1.
  package init(
    _ snapshot: Snapshot, progress: @escaping (Double) -> Void = { _ in }
  ) throws(StorageError) {
    let store = snapshot.database.store
    fileBytes = try store.storage.length()
    let access = snapshot.access()
    let parts = FileParts(snapshot.root, access)
    if let failure = parts.failure { throw failure }
    var walk = Walk(parts: parts, store: store, fileBytes: fileBytes, progress: progress)
    try walk.visit(snapshot.root, FilePart(role: .catalogue), access)
    for (part, root) in parts.all {
      var found = walk.found[part] ?? Part(part: part)
      switch part.role {
      case .table: found.entries = try TableRoot(root, access).rows
      case .column: found.entries = UInt64(try ColumnDictionary.count(root, access))
      case .index, .links, .absentLinks, .tree: found.entries = try Self.entries(of: root, access)
      case .catalogue, .slot: break
      }
      self.parts.append(found)
    }
    kinds = walk.kinds.map { (NodeKind(rawValue: $0.key)?.name ?? "unknown", $0.value) }
      .sorted { $0.0 < $1.0 }
  }

  private static func entries(of root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> UInt64 {
    guard root.kind == .integerIndex || root.isKeyedBranch else { return try OrderedTree.count(root, access) }
    return try KeyedTree.count(root, access) { (leaf) throws(StorageError) in
      UInt64(IntegerIndexNode(try access.node(leaf, .integerIndex)).count)
    }
  }

  private struct Walk {
    let parts: FileParts
    let store: NodeStore
    let fileBytes: UInt64
    let progress: (Double) -> Void
    var found: [FilePart: Part] = [:]
    var kinds: [UInt8: Space] = [:]
    private var nodes = 0
    private var bytes: UInt64 = 0
    private var visited: Set<Ref> = []

    init(parts: FileParts, store: NodeStore, fileBytes: UInt64, progress: @escaping (Double) -> Void) {
      self.parts = parts
      self.store = store
      self.fileBytes = fileBytes
      self.progress = progress
    }

    /// - Parameter part: The part that the node belongs to.
    mutating func visit(_ ref: Ref, _ part: FilePart, _ access: borrowing NodeAccess) throws(StorageError) {
      guard !ref.isNull else { return }
      if ref.level > 0, !visited.insert(ref).inserted {
        throw store.corrupted(.overlap, ref).naming(part)
      }
      add(ref, part)
      do {
        var pieces: [FilePart] = []
        if ref.kind == .cluster {
          let cluster = try parts.parts(ofCluster: ref, of: part, access)
          for (part, bytes) in cluster.packed {
            found[part, default: Part(part: part)].packedBytes += UInt64(bytes)
          }
          pieces = cluster.pieces
        }
        for (index, child) in try access.children(of: ref).enumerated() {
          let own = index < pieces.count ? pieces[index] : parts.part(startingAt: child)
          try visit(child, own ?? part, access)
        }
      } catch {
        throw error.naming(part)
      }
    }

    private mutating func add(_ ref: Ref, _ part: FilePart) {
      let length = UInt64(store.units(ofLength: ref.length) * Ref.unit)
      found[part, default: Part(part: part)].space.add(length)
      kinds[ref.rawKind, default: Space()].add(length)
      nodes += 1
      bytes += length
      if nodes % 256 == 0 { progress(Double(bytes) / Double(max(fileBytes, 1))) }
    }
  }
}

extension SpaceReport.Space {
  fileprivate mutating func add(_ length: UInt64) {
    nodes += 1
    bytes += length
  }
}
