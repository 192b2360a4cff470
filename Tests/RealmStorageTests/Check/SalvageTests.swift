import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The tests damage one node of a file at a time, of each kind and part. Everything that does not stand below the node
/// is still read, and everything else is reported as lost.
@Suite struct SalvageTests {
  /// The content of a version, or the part of it that could be read.
  private struct Content: Equatable {
    var rows: [String: [UInt64: [Value?]]] = [:]
    var entries: [String: [[UInt8]: [UInt8]?]] = [:]
  }

  private struct Node {
    var ref: Ref
    var part: FilePart
    /// The keys of the rows or entries of the same part, in the node and below it.
    var keys: Set<[UInt8]> = []
    /// Whether the node stands in a column's dictionary.
    var isOfDictionary = false
  }

  @Test(arguments: [nil, Keys.first])
  func `everything but the content below a damaged node is read, and the loss is reported`(key: [UInt8]?)
    throws
  {
    var generator = SeededGenerator(seed: 21)
    try withTemporaryPath { path in
      try Self.make(path, key)
      let (whole, losses) = try Self.read(path, key)
      #expect(losses.isEmpty && whole.rows.values.map(\.count) == [500] && whole.entries.count == 2)
      var kinds: Set<String> = []
      let nodes = Dictionary(grouping: try Self.nodes(path, key)) {
        "\($0.ref.kind?.name ?? "") of \($0.part)"
      }
      for (kind, nodes) in nodes.sorted(by: { $0.key < $1.key }) {
        kinds.insert(kind)
        for _ in 0..<min(3, nodes.count) {
          let node = nodes[generator.below(nodes.count)]
          try Self.flip(path, node.ref)
          let (found, losses) = try Self.read(path, key)
          try Self.flip(path, node.ref)
          Self.expect(found, losses, of: whole, without: node, kind)
        }
      }
      // If one of these kinds is missing, the sample no longer covers all nodes.
      for kind in [
        "root of catalogue", "leaf of catalogue", "table of table Item", "keyed branch of table Item",
        "cluster of table Item", "piece of column Item.name", "piece of column Item.city",
        "chunk of column Item.note", "chunk branch of column Item.note", "leaf of index Item.name",
        "leaf of tree pairs", "branch of tree pairs", "chunk of tree pairs", "chunk branch of tree pairs",
      ] { #expect(kinds.contains(kind), "\(kinds.sorted())") }
      #expect(try Self.read(path, key).content == whole, "the file is as it was")
    }
  }

  private static func expect(
    _ found: Content, _ losses: [Loss], of whole: Content, without node: Node, _ kind: String
  ) {
    let comment = Comment(rawValue: "\(kind) at \(node.ref.offset): \(losses)")
    for loss in losses {
      #expect(loss.damage.offset == node.ref.offset, comment)
      #expect([.checksum, .authentication].contains(loss.damage.finding), comment)
    }
    var expected = whole
    switch node.part.role {
    case .catalogue: return expectCatalogue(found, losses, of: whole, node, comment)
    case .table:
      for key in node.keys { expected.rows["Item"]?[number(key)] = nil }
      #expect(found == expected, comment)
      // The losses do not give the count of rows if the damaged node is the root of the table, because that node holds
      // the count.
      let count = node.ref.kind == .table ? nil : UInt64(node.keys.count)
      #expect(losses.map(\.what) == [.rows] && losses.map(\.count) == [count], comment)
      if let count, case .rows(let keys) = losses[0].keys {
        #expect(count > 0 && node.keys.allSatisfy { keys.contains(number($0)) }, comment)
        #expect(keys.allSatisfy { found.rows["Item"]?[$0] == nil }, comment)
      }
    case .column: expectCells(found, losses, of: whole, node, comment)
    case .index, .links, .absentLinks, .slot: #expect(found == whole && losses.isEmpty, comment)
    case .tree:
      let isValue = [.chunk, .chunkBranch].contains(node.ref.kind)
      if isValue {
        let lost = whole.entries[node.part.name]?.keys.filter {
          found.entries[node.part.name]?[$0] == .some(nil)
        }
        #expect(lost?.count == 1, comment)
        for key in lost ?? [] { expected.entries[node.part.name]?[key] = .some(nil) }
      } else {
        for key in node.keys { expected.entries[node.part.name]?[key] = nil }
      }
      #expect(found == expected, comment)
      #expect(losses.map(\.what) == [isValue ? .values : .entries], comment)
      let isRoot = node.keys.count == whole.entries[node.part.name]?.count
      let count = isValue ? 1 : isRoot ? nil : UInt64(node.keys.count)
      #expect(losses.map(\.count) == [count], comment)
    }
  }

  /// Expects that the rows have all values except those that stand in the node.
  private static func expectCells(
    _ found: Content, _ losses: [Loss], of whole: Content, _ node: Node, _ comment: Comment
  ) {
    let column = columns.firstIndex { $0.name == node.part.column } ?? -1
    var expected = whole
    var lost: [UInt64] = []
    for (key, values) in found.rows["Item"] ?? [:] where column >= 0 && values[column] == nil {
      lost.append(key)
      expected.rows["Item"]?[key]?[column] = nil
    }
    #expect(found == expected, comment)
    // A dictionary may hold values that no row has any more.
    #expect(node.isOfDictionary || !lost.isEmpty, comment)
    guard !lost.isEmpty else { return }
    #expect(losses.map(\.what) == [.cells] && losses[0].count == UInt64(lost.count), comment)
    #expect(losses[0].part == node.part, comment)
    #expect(losses[0].keys == .rows((lost.min() ?? 0)..<(lost.max() ?? 0) + 1), comment)
    if node.ref.kind == .piece, !node.isOfDictionary { #expect(lost.count <= 8, comment) }
    if node.ref.kind == .chunk || node.ref.kind == .chunkBranch { #expect(lost.count == 1, comment) }
  }

  private static func expectCatalogue(
    _ found: Content, _ losses: [Loss], of whole: Content, _ node: Node, _ comment: Comment
  ) {
    guard node.ref.kind != .root else {
      #expect(found == Content() && losses.map(\.what) == [.everything], comment)
      return
    }
    #expect(losses.count == 1, comment)
    switch losses.first?.what {
    // The table is there, without its rows.
    case .rows: #expect(found == Content(rows: ["Item": [:]], entries: whole.entries), comment)
    case .tables: #expect(found == Content(entries: whole.entries) && losses[0].count != 0, comment)
    case .trees: #expect(found == Content(rows: whole.rows) && losses[0].count != 0, comment)
    default: Issue.record(comment)
    }
  }

  @Test func `the salvage goes through a node once, even if a forged tree leads to it twice`() throws {
    let database = try Database(inMemory: "forged")
    try database.write { transaction in
      let tree = try transaction.tree("pairs")
      for number in 0..<400 {
        try tree.set([UInt8](repeating: 7, count: 100), for: Self.bytes(UInt64(number)))
      }
    }
    let whole = try database.snapshot()
    let access = whole.access()
    let first = try access.children(of: NamedTrees.root(of: "pairs", in: whole))[0]
    let count = try OrderedTree.count(first, access)
    try database.write { transaction in
      _ = try transaction.tree("pairs")
      let twice = [Self.bytes(0), Self.bytes(300)].map { TreeChild(separator: $0, count: count, ref: first) }
      transaction.openTrees[0].root =
        BranchNode.make(twice, shape: .standard, editor: transaction.editor)[0].ref
    }
    let salvage = try Salvage(database.snapshot())
    var keys: [[UInt8]] = []
    try salvage.forEachEntry(of: salvage.trees[0]) { key, _ in
      keys.append(key)
      return true
    }
    #expect(keys.count == Int(count) && Set(keys).count == keys.count)
    #expect(salvage.losses.map(\.damage.finding) == [.keyOrder])
    #expect(salvage.losses.map(\.keys) == [.entries(from: Self.bytes(300), below: nil)])
  }

  // MARK: - The sample

  private static let columns = [
    Column("id", .int64, index: .unique), Column("name", .string, index: .plain), Column("city", .string),
    Column("note", .data, isOptional: true), Column("scores", .int64, collection: .list),
  ]

  private static func make(_ path: String, _ key: [UInt8]?) throws {
    var options = Database.Options(encryptionKey: key)
    options.clusterRows = 8
    let database = try Database(path: path, options: options)
    try database.write { transaction in
      let items = try transaction.createTable(TableSchema("Item", columns: columns))
      for number in 0..<500 {
        let long = number % 100 == 50 ? 140_000 : number % 50 == 25 ? 5000 : 10
        try items.insert([
          "id": .int(Int64(number)), "name": .string("name \(number) of an item"),
          "city": .string("a city with a long name, \(number % 3)"),
          "note": number % 7 == 0 && long == 10
            ? .null : .data([UInt8](repeating: UInt8(number % 251), count: long)),
          "scores": .list((0..<number % 5).map { .int(Int64($0 * number)) }),
        ])
      }
    }
    try database.write { transaction in
      let pairs = try transaction.tree("pairs")
      for number in 0..<1500 {
        let length = number % 500 == 250 ? 140_000 : 200
        try pairs.set([UInt8](repeating: UInt8(number % 251), count: length), for: bytes(UInt64(number)))
      }
      try transaction.tree("small").set([1], for: [2])
    }
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(number >> (56 - 8 * $0) & 255) }
  }
  private static func number(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  private static func read(_ path: String, _ key: [UInt8]?) throws -> (content: Content, losses: [Loss]) {
    let database = try Database(path: path, options: .init(encryptionKey: key, isReadOnly: true))
    let salvage = try Salvage(database.snapshot())
    var content = Content()
    for table in salvage.tables {
      content.rows[table.schema.name] = [:]
      try salvage.forEachRow(of: table) { key, values in
        content.rows[table.schema.name]?[key] = values
        return true
      }
    }
    for tree in salvage.trees {
      content.entries[tree.name] = [:]
      try salvage.forEachEntry(of: tree) { key, value in
        content.entries[tree.name]?[key] = .some(value)
        return true
      }
    }
    return (content, salvage.losses)
  }

  /// All nodes of the file.
  private static func nodes(_ path: String, _ key: [UInt8]?) throws -> [Node] {
    let database = try Database(path: path, options: .init(encryptionKey: key, isReadOnly: true))
    let snapshot = try database.snapshot()
    let access = snapshot.access()
    let parts = FileParts(snapshot.root, access)
    var nodes: [Node] = []
    func visit(_ ref: Ref, _ part: FilePart, inDictionary: Bool, _ access: borrowing NodeAccess) throws
      -> Set<[UInt8]>
    {
      var node = Node(ref: ref, part: part, isOfDictionary: inDictionary)
      var pieces: [FilePart] = []
      if ref.kind == .cluster {
        pieces = try parts.parts(ofCluster: ref, of: part, access).pieces
        node.keys = Set(ClusterNode(try access.node(ref, .cluster)).keys().map(bytes))
      } else if ref.kind == .leaf {
        let leaf = try OrderedTree.leaf(ref, access)
        for index in 0..<leaf.count { node.keys.insert(leaf.key(index)) }
      }
      for (index, child) in try access.children(of: ref).enumerated() {
        let starting = parts.part(startingAt: child)
        let own = pieces.isEmpty ? starting ?? part : pieces[index]
        let isOfDictionary = pieces.isEmpty && own.role == .column && (inDictionary || starting != nil)
        let below = try visit(child, own, inDictionary: isOfDictionary, access)
        if own == part { node.keys.formUnion(below) }
      }
      nodes.append(node)
      return node.keys
    }
    _ = try visit(snapshot.root, FilePart(role: .catalogue), inDictionary: false, access)
    return nodes
  }

  /// Flips a bit of a node. The second call restores it.
  private static func flip(_ path: String, _ ref: Ref) throws {
    let file = try FileHandle(forUpdating: URL(filePath: path))
    defer { try? file.close() }
    let offset = ref.offset + UInt64(ref.length) - 8
    try file.seek(toOffset: offset)
    let old = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: offset)
    try file.write(contentsOf: Data([old ^ 0x40]))
  }
}
