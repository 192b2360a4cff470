/// Looks at everything a version reaches: each node's checksum and structure, that no two nodes share bytes, the order
/// of keys, the counts, and the length of long values.
package struct IntegrityCheck {
  package private(set) var report = Report()
  private let store: NodeStore
  private var claimed: UnitMap
  private let progress: (UInt64) -> Void

  package struct Report: Sendable {
    package var nodes = 0
    /// Bytes of the nodes' extents.
    package var liveBytes: UInt64 = 0
    /// Entries of all named trees.
    package var entries: UInt64 = 0
    package var findings: [StorageError] = []
    package var isClean: Bool { findings.isEmpty }
  }

  /// Checks the version a snapshot holds. Takes time in proportion to the version's size.
  ///
  /// `progress` is called now and then with the bytes of nodes looked at so far.
  package static func run(_ snapshot: Snapshot, progress: @escaping (UInt64) -> Void = { _ in }) -> Report {
    var check = IntegrityCheck(snapshot.database.store, pageCount: snapshot.base.pageCount, progress)
    let access = snapshot.access()
    check.checkNode(snapshot.root, access)
    check.checkTrees(snapshot.root, access)
    return check.report
  }

  private init(_ store: NodeStore, pageCount: Int, _ progress: @escaping (UInt64) -> Void) {
    self.store = store
    self.progress = progress
    claimed = UnitMap(pageCount: pageCount)
  }

  /// Every node once, whatever its kind.
  private mutating func checkNode(_ ref: Ref, _ access: borrowing NodeAccess) {
    guard !ref.isNull else { return }
    let units = store.units(ofLength: ref.length)
    guard claimed.claim(unit: Int(ref.unit), units: units) else {
      report.findings.append(store.corrupted(.overlap, ref))
      return
    }
    report.nodes += 1
    report.liveBytes += UInt64(units * Ref.unit)
    if report.nodes % 256 == 0 { progress(report.liveBytes) }
    do {
      _ = try access.node(ref).length
      for child in try access.children(of: ref) { checkNode(child, access) }
    } catch {
      report.findings.append(error)
    }
  }

  /// What the nodes mean together. Only where all of them were sound: else the same is found again.
  private mutating func checkTrees(_ root: Ref, _ access: borrowing NodeAccess) {
    guard report.isClean else { return }
    do {
      let catalogue = try Catalogue(root, access)
      var trees: [Ref] = []
      _ = try OrderedTree.check(catalogue.namedTrees, access) { if let ref = $0.ref { trees.append(ref) } }
      for tree in trees {
        report.entries += try OrderedTree.check(tree, access) { (value) throws(StorageError) in
          _ = try value.contents(access)
        }
      }
      try checkTables(catalogue, access)
    } catch {
      report.findings.append(error)
    }
  }

  private mutating func checkTables(_ catalogue: Catalogue, _ access: borrowing NodeAccess)
    throws(StorageError)
  {
    let nothing: (TreeValue) throws(StorageError) -> Void = { _ in }
    _ = try OrderedTree.check(catalogue.schema, access, visit: nothing)
    _ = try OrderedTree.check(catalogue.tables, access, visit: nothing)
    var check = try TableCheck(catalogue, access)
    try check.run(access)
    report.entries += check.rows
  }
}
