import RealmStorage

extension Snapshot {
  /// All nodes of the version, each parent before its children.
  package func nodes() throws(StorageError) -> [Ref] {
    var nodes: [Ref] = []
    let access = self.access()
    try Self.collect(root, access, &nodes)
    return nodes
  }

  private static func collect(
    _ ref: Ref, _ access: borrowing NodeAccess, _ nodes: inout [Ref]
  ) throws(StorageError) {
    guard !ref.isNull else { return }
    nodes.append(ref)
    for child in try access.children(of: ref) { try collect(child, access, &nodes) }
  }
}
