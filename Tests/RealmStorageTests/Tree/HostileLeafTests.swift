import RealmTestSupport
import Testing

@testable import RealmStorage

/// Nodes of the kind that a forged file may hold. Every node that a validator accepts must be readable without a trap.
@Suite struct HostileLeafTests {
  private static let bodies = 1000

  @Test(arguments: 0..<10)
  func `a random leaf is refused or can be read`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try HostileFixture()
    var accepted = 0
    for _ in 0..<Self.bodies {
      let refs = generator.chance(70) ? 0 : generator.below(4)
      let node = ForgedNode(kind: .leaf, refs: refs, body: Self.leafBody(&generator))
      if try fixture.accepts(node, &generator) { accepted += 1 }
    }
    #expect(accepted > 50)
    #expect(accepted < Self.bodies)
  }

  @Test(arguments: 1...10)
  func `a leaf of keys of one length is refused if two keys do not ascend`(width: Int) throws {
    var generator = SeededGenerator(seed: UInt64(width))
    let fixture = try HostileFixture()
    for _ in 0..<200 {
      let count = 1 + generator.below(20)
      var keys = Set((0..<count).map { _ in generator.bytes(width) }).sorted {
        $0.lexicographicallyPrecedes($1)
      }
      let isForged = generator.chance(50) && keys.count > 1
      if isForged {
        let place = 1 + generator.below(keys.count - 1)
        if generator.chance(50) { keys.swapAt(place - 1, place) } else { keys[place] = keys[place - 1] }
      }
      var body: [UInt8] = []
      for number in [keys.count, 0, width, 0] { body += [UInt8(number & 0xff), UInt8(number >> 8)] }
      let node = ForgedNode(kind: .leaf, refs: 0, body: body + keys.joined())
      let isAccepted = try fixture.accepts(node, &generator)
      #expect(isAccepted != isForged, "keys \(keys)")
    }
  }

  @Test(arguments: 0..<10)
  func `a damaged leaf is refused or can be read`(seed: UInt64) throws {
    try damage(.leaf, seed: seed)
  }

  @Test(arguments: 0..<10)
  func `a random branch is refused or can be read`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try HostileFixture()
    var accepted = 0
    for _ in 0..<Self.bodies {
      let refs = generator.below(6)
      let node = ForgedNode(kind: .branch, refs: refs, body: Self.branchBody(refs, &generator))
      if try fixture.accepts(node, &generator) { accepted += 1 }
    }
    #expect(accepted > 50)
    #expect(accepted < Self.bodies)
  }

  @Test(arguments: 0..<10)
  func `a damaged branch is refused or can be read`(seed: UInt64) throws {
    try damage(.branch, seed: seed)
  }

  @Test(arguments: 0..<5)
  func `a random part of a long value is refused or can be read`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try HostileFixture()
    var accepted = 0
    for _ in 0..<Self.bodies {
      let isChunk = generator.chance(50)
      let refs = isChunk ? (generator.chance(90) ? 0 : 1) : generator.below(5)
      var body: [UInt8] = []
      for _ in 0..<(isChunk ? 2 : 2 * refs) {
        let isSmall = generator.chance(80)
        body += isSmall ? [UInt8(generator.below(40)), 0, 0, 0] : generator.bytes(4)
      }
      body += generator.bytes(generator.below(40))
      let length = generator.chance(20) ? generator.below(body.count + 1) : body.count
      let node = ForgedNode(
        kind: isChunk ? .chunk : .chunkBranch, refs: refs, body: Array(body.prefix(length)))
      if try fixture.accepts(node, &generator) { accepted += 1 }
    }
    #expect(accepted > 50)
    #expect(accepted < Self.bodies)
  }

  @Test(arguments: 0..<5)
  func `a random catalogue is refused or can be read`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try HostileFixture()
    var accepted = 0
    for _ in 0..<Self.bodies {
      let slots = generator.chance(70) ? [UInt8(generator.below(6)), 0, 0, 0] : generator.bytes(4)
      let body = slots + generator.bytes(generator.below(30))
      let node = ForgedNode(kind: .root, refs: generator.below(3), body: body)
      if try fixture.accepts(node, &generator) { accepted += 1 }
    }
    #expect(accepted > 20)
    #expect(accepted < Self.bodies)
  }

  @Test(arguments: [[0x7fff, 0x8000, 0x8005], [0x7ffe, 0x7fff, 0x7fff], [5, 0x9000, 0xffff]])
  func `a leaf with more bytes of keys than its ends can express is refused or can be read`(ends: [Int])
    throws
  {
    var generator = SeededGenerator(seed: 1)
    let fixture = try HostileFixture()
    var body = Self.leafHeader(count: 3, prefix: 0, keyWidth: 0xffff, valueWidth: 0)
    for end in ends { body += Self.word(end) }
    body += [UInt8](repeating: 1, count: ends[2])
    _ = try fixture.accepts(ForgedNode(kind: .leaf, refs: 0, body: body), &generator)
  }

  @Test(arguments: [(0, 1024), (1024, 0), (1000, 24), (0, 1025), (1025, 0), (1000, 25), (0xffff, 0xfffe)])
  func `a leaf with a key longer than the limit is refused`(prefix: Int, width: Int) throws {
    var generator = SeededGenerator(seed: 1)
    let fixture = try HostileFixture()
    let body =
      Self.leafHeader(count: 1, prefix: prefix, keyWidth: width, valueWidth: 0)
      + [UInt8](repeating: 1, count: prefix + width)
    let isAccepted = try fixture.accepts(ForgedNode(kind: .leaf, refs: 0, body: body), &generator)
    #expect(isAccepted == (prefix + width <= OrderedTree.maximumKeyLength))
  }

  @Test func `a leaf of very many empty entries is refused or can be read`() throws {
    var generator = SeededGenerator(seed: 1)
    let fixture = try HostileFixture()
    let body = Self.leafHeader(count: 0xffff, prefix: 0, keyWidth: 0, valueWidth: 0)
    _ = try fixture.accepts(ForgedNode(kind: .leaf, refs: 0, body: body), &generator)
    let tooLong = Self.leafHeader(count: 0xffff, prefix: 0, keyWidth: 0xfffe, valueWidth: 0xfffe)
    let isAccepted = try fixture.accepts(ForgedNode(kind: .leaf, refs: 0, body: tooLong), &generator)
    #expect(!isAccepted)
  }

  /// Takes nodes of a real tree and changes a few bytes.
  private func damage(_ kind: NodeKind, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try HostileFixture()
    let nodes = try fixture.realNodes(kind, &generator)
    for node in nodes {
      let isAccepted = try fixture.accepts(node, &generator)
      #expect(isAccepted)
    }
    var accepted = 0
    for _ in 0..<Self.bodies {
      var node = nodes[generator.below(nodes.count)]
      node.damage(&generator)
      if try fixture.accepts(node, &generator) { accepted += 1 }
    }
    #expect(accepted > 50)
    #expect(accepted < Self.bodies)
  }

  // MARK: - Bodies

  private static func word(_ value: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
  }

  private static func leafHeader(count: Int, prefix: Int, keyWidth: Int, valueWidth: Int) -> [UInt8] {
    word(count) + word(prefix) + word(keyWidth) + word(valueWidth)
  }

  private static func leafBody(_ generator: inout SeededGenerator) -> [UInt8] {
    if generator.chance(20) { return generator.bytes(generator.below(200)) }
    let widths = [0xffff, 0, 1, 3, 8]
    let count = generator.below(6)
    let prefix = generator.below(8)
    let keyWidth = widths[generator.below(widths.count)]
    let valueWidth = widths[generator.below(widths.count)]
    var body = leafHeader(count: count, prefix: prefix, keyWidth: keyWidth, valueWidth: valueWidth)
    body += generator.bytes(prefix)
    for width in [keyWidth, valueWidth] where width == 0xffff {
      var end = 0
      for _ in 0..<count {
        end += generator.below(5)
        // Bit 15 says that a value names a ref. In the end of a key it is part of a large number.
        body += word(generator.chance(10) ? end | 0x8000 : end)
      }
    }
    return body + generator.bytes(generator.below(60))
  }

  private static func branchBody(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    if generator.chance(20) { return generator.bytes(generator.below(120)) }
    var body: [UInt8] = []
    for _ in 0..<count {
      let rows = TestKeys.length(generator.below(256))
      body += generator.chance(3) ? generator.bytes(8) : rows
    }
    var end = 0
    for index in 0..<count {
      if index > 0 || generator.chance(5) { end += generator.below(8) }
      body += word(generator.chance(2) ? generator.below(0x10000) : end)
    }
    return body + generator.bytes(generator.below(50))
  }
}

/// A node with any content.
private struct ForgedNode {
  var kind: NodeKind
  var refs: Int
  var body: [UInt8]

  mutating func damage(_ generator: inout SeededGenerator) {
    for _ in 0...generator.below(3) {
      guard !body.isEmpty else { return }
      // The start of a body says where everything else stands.
      let reach = generator.chance(50) ? min(body.count, 24) : body.count
      let place = generator.below(reach)
      switch generator.below(8) {
      case 0: body[place] = [0, 1, 0x7f, 0x80, 0xff][generator.below(5)]
      case 1: body[place] ^= UInt8(1) << UInt8(generator.below(8))
      case 2: body = Array(body.prefix(place))
      case 3: body.remove(at: place)
      case 4: body.insert(UInt8(generator.below(256)), at: place)
      case 5: refs = max(0, refs + generator.below(3) - 1)
      default: body[place] = UInt8(generator.below(256))
      }
    }
  }
}

/// Makes nodes in an arena without any validation of their content.
private struct HostileFixture {
  private let fixture: TreeFixture
  private let child: Ref

  init() throws {
    fixture = try TreeFixture()
    let bytes: [UInt8] = [1, 2, 3]
    child = LongValue.write(bytes.span.bytes, editor: fixture.editor)
  }

  /// All nodes of a kind in a tree of random entries.
  func realNodes(_ kind: NodeKind, _ generator: inout SeededGenerator) throws -> [ForgedNode] {
    let tree = try ModelledTree(fixture.editor, building: 120, &generator)
    let access = fixture.editor.access()
    var nodes: [ForgedNode] = []
    for ref in try TreeNodes.all(tree.root, access) where ref.rawKind == kind.rawValue {
      let view = try access.node(ref)
      nodes.append(
        ForgedNode(kind: kind, refs: view.refCount, body: view.bytes(at: 0, count: view.bodyLength).array))
    }
    return nodes
  }

  /// Whether the validator accepts the node. If so, reads everything that may be read of such a node.
  func accepts(_ node: ForgedNode, _ generator: inout SeededGenerator) throws -> Bool {
    let ref = make(node)
    let isAccepted = try look(at: ref, node, &generator)
    fixture.editor.free(ref)
    return isAccepted
  }

  private func make(_ node: ForgedNode) -> Ref {
    let arena = fixture.editor.arena
    let level = node.refs == 0 ? 0 : child.level + 1
    let writer = arena.make(kind: node.kind, level: level, refCount: node.refs, bodyLength: node.body.count)
    for index in 0..<node.refs { writer.setRef(index, to: child) }
    writer.copy(node.body, at: 0)
    return writer.ref
  }

  private func look(at ref: Ref, _ node: ForgedNode, _ generator: inout SeededGenerator) throws -> Bool {
    let access = fixture.editor.access()
    let view = try access.node(ref)
    var isReadable = true
    if node.kind == .leaf {
      guard LeafNode.isValid(view) else { return false }
      isReadable = canBeRead(LeafNode(view), &generator)
      isReadable = try isReadable && canBeChanged(LeafNode(view), &generator)
    } else if node.kind == .branch {
      guard BranchNode.isValid(view) else { return false }
      isReadable = canBeRead(BranchNode(view), &generator)
    } else if node.kind == .chunk {
      guard LongValue.isValidChunk(view) else { return false }
      let bytes = try LongValue.read(ref, access)
      isReadable = try LongValue.length(ref, access) == bytes.count
    } else if node.kind == .chunkBranch {
      guard LongValue.isValidBranch(view) else { return false }
      let length = try LongValue.length(ref, access)
      // If the counts are wrong, reading throws.
      if let bytes = try? LongValue.read(ref, access) { isReadable = bytes.count == length }
    } else {
      guard Catalogue.isValid(view) else { return false }
      let trees = try Catalogue(ref, access).namedTrees
      isReadable = trees.isNull || trees == child
    }
    #expect(isReadable, "\(node.kind), \(node.refs) refs, body \(node.body.count): \(node.body.prefix(80))")
    return true
  }

  /// Makes leaves with one entry added or replaced, and with one entry removed. Each of them must be valid.
  private func canBeChanged(_ leaf: LeafNode, _ generator: inout SeededGenerator) throws -> Bool {
    let key = generator.bytes(generator.below(12))
    let (index, found) = leaf.search(key.span.bytes)
    let removed = generator.below(leaf.count)
    let limit = generator.chance(50) ? 4096 : 60
    return try makesLeaves(
      LeafParts(
        leaf, replacing: index..<index + (found ? 1 : 0), key: key.span.bytes,
        value: TreeValue(bytes: key.span.bytes)), limit)
      && makesLeaves(LeafParts(leaf, removing: removed..<removed + 1), limit)
  }

  private func makesLeaves(_ parts: borrowing LeafParts, _ limit: Int) throws -> Bool {
    let access = fixture.editor.access()
    var areValid = true
    for made in parts.makeLeaves(limit: limit, editor: fixture.editor).all {
      if !LeafNode.isValid(try access.node(made.ref)) { areValid = false }
      fixture.editor.free(made.ref)
    }
    return areValid
  }

  private func canBeRead(_ leaf: LeafNode, _ generator: inout SeededGenerator) -> Bool {
    let count = leaf.count
    guard count >= 1 else { return false }
    // The bounds are tested first, because reading would trap if they were out of order.
    if leaf.keyWidth == nil || leaf.valueWidth == nil {
      for index in 0..<count {
        let (start, end) = leaf.suffixBounds(index)
        let value = leaf.valueBounds(index)
        guard start <= end, value.start <= value.end else { return false }
      }
    }
    for index in sample(count, &generator) {
      let value = leaf.value(index)
      let (bytes, ref) = (value.bytes.array, value.ref)
      guard leaf.key(index).count == leaf.keyLength(index), bytes.count == value.bytes.byteCount,
        ref == nil || ref == child
      else { return false }
    }
    let keyBytes = leaf.suffixes(0..<count).byteCount
    let valueBytes = leaf.values(0..<count).byteCount
    guard keyBytes >= 0, valueBytes >= 0 else { return false }
    let probes: [[UInt8]] = [
      [], [UInt8](repeating: 0xff, count: 60), generator.bytes(8), leaf.prefix.array, leaf.key(0),
      leaf.key(count - 1),
    ]
    for probe in probes {
      let (index, found) = leaf.search(probe.span.bytes)
      guard index >= 0, index <= count else { return false }
      if found {
        guard index < count, leaf.key(index) == probe else { return false }
      }
    }
    return true
  }

  private func canBeRead(_ branch: BranchNode, _ generator: inout SeededGenerator) -> Bool {
    let count = branch.count
    guard count >= 1 else { return false }
    var rows: UInt64 = 0
    for index in 0..<count {
      let entry = branch.entry(index)
      guard entry.ref == child, entry.separator.count == branch.separator(index).byteCount else {
        return false
      }
      rows += entry.count
    }
    guard rows == branch.totalRows else { return false }
    let probes: [[UInt8]] = [
      [], [UInt8](repeating: 0xff, count: 60), generator.bytes(8), branch.separator(count - 1).array,
    ]
    for probe in probes {
      let index = branch.search(probe.span.bytes)
      guard index >= 0, index < count else { return false }
    }
    return true
  }

  /// Some of the indices, including the first and the last.
  private func sample(_ count: Int, _ generator: inout SeededGenerator) -> [Int] {
    guard count > 16 else { return Array(0..<count) }
    return [0, count - 1] + (0..<14).map { _ in generator.below(count) }
  }
}
