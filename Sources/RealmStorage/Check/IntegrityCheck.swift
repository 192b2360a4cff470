/// Checks everything that a version reaches: each node's checksum and structure, that no two nodes share bytes and no
/// two commits a page, the order of keys, the counts, and the length of long values.
package struct IntegrityCheck {
  package private(set) var report = Report()
  private let snapshot: Snapshot
  private let store: NodeStore
  private let parts: FileParts
  private var claimed: UnitMap
  /// The same map that a writer makes: only one commit writes a page.
  private var map: PageMap
  private let fileBytes: Double
  private let progress: (Double) -> Void

  package struct Report: Sendable {
    package var nodes = 0
    /// The number of bytes of the nodes' extents.
    package var liveBytes: UInt64 = 0
    /// The number of rows of all tables and of entries of all named trees.
    package var entries: UInt64 = 0
    /// The number of changesets of a synced file.
    package var changesets: UInt64 = 0
    package var findings: [StorageError] = []
    /// The parts that a library must know to write the file, and that this library does not know. The check did not
    /// look into them.
    package var unknown: [StorageError.Feature] = []
    /// The reason why not everything could be checked. It says nothing about the bytes.
    package var failure: StorageError?
    package var isClean: Bool { problem == nil }
    /// The most important problem: damage comes before everything else.
    package var problem: StorageError? { findings.first ?? failure }
  }

  /// Checks the version of a snapshot. Takes time in proportion to the version's size.
  ///
  /// - Parameter progress: Called now and then with the part of the check that is done, from 0 to 1.
  package static func run(_ snapshot: Snapshot, progress: @escaping (Double) -> Void = { _ in }) -> Report {
    // If this can't find all parts, the walk over the nodes finds the reason.
    let parts = FileParts(snapshot.root, snapshot.access())
    var check = IntegrityCheck(snapshot, parts, progress)
    if case .unknownFeature = parts.failure {
      // Damage in unknown parts can't be told from unknown content.
      check.report.failure = parts.failure
      return check.report
    }
    check.checkNode(snapshot.root, FilePart(role: .catalogue))
    check.checkTrees()
    check.report.failure = check.report.findings.first { !$0.isDamage }
    check.report.findings.removeAll { !$0.isDamage }
    return check.report
  }

  private init(_ snapshot: Snapshot, _ parts: FileParts, _ progress: @escaping (Double) -> Void) {
    self.snapshot = snapshot
    store = snapshot.database.store
    self.parts = parts
    self.progress = progress
    claimed = UnitMap(pageCount: snapshot.base.pageCount)
    map = PageMap(pageCount: snapshot.base.pageCount)
    fileBytes = Double(max(snapshot.base.end, 1))
  }

  /// Checks every node once, whatever its kind. `part` is the part that the node belongs to.
  private mutating func checkNode(_ ref: Ref, _ part: FilePart) {
    guard !ref.isNull else { return }
    let units = store.units(ofLength: ref.length)
    guard claimed.claim(unit: Int(ref.unit), units: units),
      map.claim(unit: Int(ref.unit), units: units, birth: ref.birth)
    else {
      report.findings.append(store.corrupted(.overlap, ref).naming(part))
      return
    }
    report.nodes += 1
    report.liveBytes += UInt64(units * Ref.unit)
    // This is the first half of the work. The second half checks what the nodes mean together.
    if report.nodes % 256 == 0 { progress(0.5 * Double(report.liveBytes) / fileBytes) }
    do {
      for (child, part) in try children(of: ref, part) { checkNode(child, part) }
    } catch {
      report.findings.append(error.naming(part))
    }
  }

  /// The children of a node, and the parts that they belong to. Each node is read by an access of its own, so that
  /// decrypted nodes can be forgotten afterwards.
  private func children(of ref: Ref, _ part: FilePart) throws(StorageError) -> [(Ref, FilePart)] {
    let access = snapshot.access()
    _ = try access.node(ref).length
    var pieces: [FilePart] = []
    if ref.kind == .cluster { pieces = try parts.parts(ofCluster: ref, of: part, access).pieces }
    return try access.children(of: ref).enumerated().map { index, child in
      (child, (index < pieces.count ? pieces[index] : parts.part(startingAt: child)) ?? part)
    }
  }

  /// Checks what the nodes mean together. Does so only if all nodes are sound; otherwise the same damage would be found
  /// again.
  private mutating func checkTrees() {
    guard report.isClean else { return }
    do {
      let catalogue = try Catalogue(snapshot.root, snapshot.access())
      try checkCatalogue(catalogue)
      report.unknown = try snapshot.database.unknownToWrite(snapshot)
      let trees = parts.all.filter { $0.part.role == .tree }
      let tables = try TableCheck(catalogue, snapshot.access())
      var total = Double(tables.expectedRows)
      for tree in trees { total += Double(try OrderedTree.count(tree.root, snapshot.access())) }
      let share: (UInt64) -> Double = { 0.5 + 0.5 * Double($0) / max(total, 1) }
      for (part, tree) in trees {
        checkNamedTree(tree, part)
        progress(share(report.entries))
      }
      let entries = report.entries
      var check = tables
      check.run(snapshot) { progress(share(entries + $0)) }
      report.entries += check.rows
      report.findings += check.findings
      checkChangelog(catalogue)
    } catch {
      report.findings.append(error.naming(FilePart(role: .catalogue)))
    }
  }

  private mutating func checkChangelog(_ catalogue: Catalogue) {
    do {
      report.changesets = try ChangelogCheck.run(catalogue, snapshot)
    } catch {
      report.findings.append(error.naming(FilePart(role: .slot, name: ChangelogSlot.name)))
    }
  }

  private mutating func checkNamedTree(_ tree: Ref, _ part: FilePart) {
    do {
      report.entries += try OrderedTree.check(tree, snapshot) { (value, access) throws(StorageError) in
        _ = try value.contents(access)
      }
    } catch {
      report.findings.append(error.naming(part))
    }
  }

  private func checkCatalogue(_ catalogue: Catalogue) throws(StorageError) {
    if let failure = parts.failure { throw failure }
    for tree in [catalogue.namedTrees, catalogue.schema, catalogue.tables, catalogue.namedSlots] {
      _ = try OrderedTree.check(tree, snapshot) { _, _ in }
    }
    // `NamedVersionCheck` looks at the slots of named versions, and only at those of the newest version.
  }
}
