import RealmStorage

/// A change of a file that a random change would hardly be. The checksums fit afterwards.
struct Forgery {
  let name: String
  let apply: (inout Forge) -> Void

  static var all: [Forgery] {
    let groups: [[Forgery]] = [
      metaPages, kinds, cycles, births, leaves, branches, rows, sharedChunks, sharedBranches, dictionaries,
      unknown,
    ]
    return groups.flatMap { $0 }
  }

  /// Nodes that are examples of their kinds.
  enum Place: CaseIterable {
    case catalogue, names, tree, leaf, longValue, chunk, table, cluster, dictionary, namedSlots

    func index(in forge: Forge) -> Int {
      let nodes = forge.nodes
      // The named trees come after the trees of schemas and of tables, and the named slots come after them.
      let trees = forge.children(of: 0)
      let names = trees.count > 2 ? trees[2] : 0
      let tree = forge.children(of: names).first ?? 0
      return switch self {
      case .catalogue: 0
      case .names: names
      case .tree: tree
      case .leaf: forge.children(of: tree).first ?? 0
      case .longValue: nodes.firstIndex(where: { $0.ref.kind == .chunkBranch }) ?? 0
      case .chunk: nodes.firstIndex(where: { $0.ref.kind == .chunk }) ?? 0
      case .table: nodes.firstIndex(where: { $0.ref.kind == .table }) ?? 0
      case .cluster: nodes.firstIndex(where: { $0.ref.kind == .cluster }) ?? 0
      case .dictionary:
        nodes.firstIndex { node in
          node.ref.kind == .piece && node.parent.map { nodes[$0].ref.kind == .table } ?? false
        } ?? 0
      case .namedSlots: trees.count > 3 ? trees[3] : 0
      }
    }
  }

  // MARK: - Meta pages

  private static var metaPages: [Forgery] {
    let values: [UInt64] = [
      0, 1, 2, 3, 0xffff, 0x1_0000_0000, 0x8_0000_0000, 0x8_0000_0001, 0x200_0000_0000, 0x8000_0000_0000,
      0xffff_ffff_ffff, 0x1_0000_0000_0000, 0x8000_0000_0000_0000, UInt64.max,
    ]
    var list: [Forgery] = []
    for field in stride(from: Forge.Meta.flags, through: Forge.Meta.root + 24, by: 8) {
      for value in values {
        list.append(
          Forgery(name: "meta page field \(field) is \(value)") { forge in
            forge.changeMeta(field) { _ in value }
          })
      }
    }
    for bit in UInt64(0)..<64 {
      let mask = UInt64(1) << bit
      for (word, name) in ["place", "identity", "checksum", "second checksum"].enumerated() {
        list.append(
          Forgery(name: "bit \(bit) of the root's \(name)") { forge in
            forge.changeMeta(Forge.Meta.root + 8 * word) { old in old ^ mask }
          })
      }
    }
    return list
  }

  // MARK: - Refs

  /// A node whose birth differs from those of its neighbours.
  private static var births: [Forgery] {
    [UInt64(1), 3].map { difference in
      Forgery(name: "a leaf that is older by \(difference)") { forge in
        let index = Place.leaf.index(in: forge)
        let node = forge.nodes[index]
        let identity = Ref.identity(
          birth: max(node.ref.birth, difference + 1) - difference, kind: .leaf, level: node.ref.level)
        forge.store(identity, at: node.start + Forge.Header.identity)
        forge.store(identity, at: node.slot + 8)
        forge.vouch(for: index)
      }
    }
  }

  /// A node of each kind in each place.
  private static var kinds: [Forgery] {
    var list: [Forgery] = []
    for place in Place.allCases {
      for kind in NodeKind.allCases {
        list.append(
          Forgery(name: "a \(kind.name) for a \(place)") { forge in
            guard let other = forge.nodes.first(where: { $0.ref.kind == kind }) else { return }
            let node = place.index(in: forge)
            forge.replace(node, with: other.ref)
          })
      }
    }
    return list
  }

  /// A node that holds itself or a node above it, with that node's own level or with a lower one.
  private static var cycles: [Forgery] {
    var list: [Forgery] = []
    for place in Place.allCases {
      for steps in 0..<4 {
        for lies in [false, true] {
          let name = "a \(place) that holds what is \(steps) levels above it\(lies ? ", with a lie" : "")"
          list.append(
            Forgery(name: name) { forge in
              let node = place.index(in: forge)
              forge.makeCycle(at: node, steps: steps, lies: lies)
            })
        }
      }
    }
    return list
  }

  // MARK: - Content

  private static var leaves: [Forgery] {
    let (a, b, c) = (Array("a".utf8), Array("b".utf8), Array("c".utf8))
    let many = [[UInt8]](repeating: [], count: 0xffff)
    return [
      leaf("keys out of order", keys: [b, a, c]),
      leaf("equal keys", keys: [a, a, a]),
      leaf("65,535 empty keys", keys: many),
      leaf("long keys", keys: [[UInt8](repeating: 1, count: 60_000), [UInt8](repeating: 2, count: 60_000)]),
      leaf("a long prefix", keys: [[], []], prefix: [UInt8](repeating: 1, count: 0xffff)),
      leaf("long values", keys: [a, b], value: [UInt8](repeating: 1, count: 60_000)),
    ]
  }

  private static func leaf(
    _ name: String, keys: [[UInt8]], prefix: [UInt8] = [], value: [UInt8] = []
  ) -> Forgery {
    Forgery(name: "a leaf with \(name)") { forge in
      let leaf = forge.append(.leaf, level: 0, body: Forge.leafBody(keys: keys, prefix: prefix, value: value))
      let node = Place.tree.index(in: forge)
      forge.replace(node, with: leaf)
    }
  }

  /// Half of the number of rows that a branch may claim. One less than the whole number is valid.
  private static let halfOfRows = UInt64(1) << 61

  private static var branches: [Forgery] {
    let (b, c) = (Array("b".utf8), Array("c".utf8))
    return [
      branch("one child", rows: [2], separators: [[]]),
      branch("separators out of order", rows: [2, 2, 2], separators: [[], c, b]),
      branch("equal separators", rows: [2, 2, 2], separators: [[], b, b]),
      branch("empty separators", rows: [2, 2, 2], separators: [[], [], []]),
      branch("no rows", rows: [0, 0], separators: [[], b]),
      branch("too many rows", rows: [halfOfRows, halfOfRows - 1], separators: [[], b]),
      branch("rows that overflow", rows: [halfOfRows * 4, halfOfRows * 4], separators: [[], b]),
      branch("long separators", rows: [2, 2], separators: [[], [UInt8](repeating: 1, count: 0xffff)]),
    ]
  }

  private static func branch(_ name: String, rows: [UInt64], separators: [[UInt8]]) -> Forgery {
    Forgery(name: "a branch with \(name)") { forge in
      let leaf = forge.append(.leaf, level: 0, body: Forge.leafBody(keys: [[0x61], [0x62]]))
      let refs = [Ref](repeating: leaf, count: rows.count)
      let body = Forge.branchBody(rows: rows, separators: separators)
      let branch = forge.append(.branch, level: 1, refs: refs, body: body)
      let node = Place.tree.index(in: forge)
      forge.replace(node, with: branch)
    }
  }

  /// Branches each of which claims nearly the greatest number of rows, because ranks add these numbers.
  private static var rows: [Forgery] {
    [1, 2, 3, 5].map { depth in
      Forgery(name: "\(depth) levels of branches that claim all rows there may be") { forge in
        let first = forge.append(.leaf, level: 0, body: Forge.leafBody(keys: [[0x61]]))
        var child = forge.append(.leaf, level: 0, body: Forge.leafBody(keys: [[0x63]]))
        for level in 1...depth {
          let body = Forge.branchBody(rows: [2 * halfOfRows - 2, 1], separators: [[], [0x62]])
          child = forge.append(.branch, level: UInt8(level), refs: [first, child], body: body)
        }
        let node = Place.tree.index(in: forge)
        forge.replace(node, with: child)
      }
    }
  }

  // MARK: - Sharing

  /// Long values whose branches hold the same child many times, so that its bytes are counted many times.
  private static var sharedChunks: [Forgery] {
    let shapes: [(bytes: Int, depth: Int, fanOut: Int)] = [
      (100, 1, 60), (0, 100, 2), (1, 38, 2), (65_536, 3, 200),
    ]
    return shapes.map { shape in
      let name = "\(shape.depth) levels of \(shape.fanOut) times one chunk of \(shape.bytes) bytes"
      return Forgery(name: name) { forge in
        let value = forge.appendSharedChunks(bytes: shape.bytes, depth: shape.depth, fanOut: shape.fanOut)
        let node = Place.longValue.index(in: forge)
        forge.replace(node, with: value)
      }
    }
  }

  /// Branches of a tree, and of the tree of names, that hold the same child many times.
  private static var sharedBranches: [Forgery] {
    let shapes: [(depth: Int, fanOut: Int)] = [(2, 60), (6, 60), (40, 2), (100, 60), (200, 2)]
    var list: [Forgery] = []
    for place in [Place.tree, .names] {
      for shape in shapes {
        let name = "\(shape.depth) levels of \(shape.fanOut) times one leaf as a \(place)"
        list.append(
          Forgery(name: name) { forge in
            let tree = forge.appendSharedBranches(depth: shape.depth, fanOut: shape.fanOut)
            let node = place.index(in: forge)
            forge.replace(node, with: tree)
          })
      }
    }
    return list
  }
}

extension Forgery {
  /// Dictionaries with fewer values than codes, with other values, and under branches with wrong codes.
  fileprivate static var dictionaries: [Forgery] {
    let values: [(name: String, ends: [UInt16], heap: Int)] = [
      ("one value", [3], 3), ("nulls", [0x4000, 0x4000, 0x4000, 0x4000], 0),
      ("one value twice", [1, 2, 3], 3),
      ("a value outside of its heap", [0x3fff], 3),
      ("512 empty values", [UInt16](repeating: 0, count: 512), 0),
    ]
    let whole = values.map { value in
      Forgery(name: "a dictionary with \(value.name)") { forge in
        let piece = forge.append(.piece, level: 0, body: Forge.pieceBody(value.ends, heap: value.heap))
        let node = Place.dictionary.index(in: forge)
        forge.replace(node, with: piece)
      }
    }
    let keys: [[UInt64]] = [[0, 1], [1, 2], [0, 2], [2, 1 << 62], [0, UInt64.max]]
    let astray = keys.map { leastKeys in
      Forgery(name: "a dictionary whose least codes are \(leastKeys)") { forge in
        let piece = forge.append(.piece, level: 0, body: Forge.pieceBody([1, 2], heap: 2))
        var body = [UInt8](repeating: 0, count: 16 * leastKeys.count)
        for (index, key) in leastKeys.enumerated() {
          body.store(key, at: 8 * index)
          body.store(UInt64(2), at: 8 * (leastKeys.count + index))
        }
        let refs = [Ref](repeating: piece, count: leastKeys.count)
        let branch = forge.append(.keyedBranch, level: 1, refs: refs, body: body)
        let node = Place.dictionary.index(in: forge)
        forge.replace(node, with: branch)
      }
    }
    return whole + astray
  }
}

extension Forgery {
  /// Wrong fields of the versions that are kept by name.
  private static var versions: [Forgery] {
    (0..<240).flatMap { offset in
      [UInt64(0), 1, 1 << 20, 0xffff_ffff_ffff, UInt64.max].map { value in
        Forgery(name: "byte \(offset) of the named slots on is \(value)") { forge in
          let slots = Place.namedSlots.index(in: forge)
          guard offset + 8 <= forge.nodes[slots].body.count else { return }
          forge.storeInBody(of: slots, value, at: offset)
        }
      }
    }
  }

  /// Things that later versions of the format may have: other slots, other trees of a table, flags of branches. The
  /// last existing slot is also taken for the slot of the named slots.
  fileprivate static var unknown: [Forgery] {
    let slots = [0x1b, 0x17, 0x8000_0007, 0x1d, 0x1f, 7].map { (value: UInt32) in
      Forgery(name: "slots \(value)") { forge in forge.storeInBody(of: 0, value, at: 0) }
    }
    let trees = [4, 5, 0x8001, 7, 0xffff].map { (value: UInt16) in
      Forgery(name: "trees \(value) of a table") { forge in
        let table = Place.table.index(in: forge)
        forge.storeInBody(of: table, value, at: 16)
      }
    }
    let flags = [1, 2, 1 << 63].map { (value: UInt64) in
      Forgery(name: "flags \(value) of a position branch") { forge in
        guard let branch = forge.nodes.firstIndex(where: { $0.ref.kind == .positionBranch }) else { return }
        forge.storeInBody(of: branch, value, at: 0)
      }
    }
    return slots + trees + flags + versions
  }
}

// MARK: - Parts of forgeries

extension Forge {
  /// Changes a field of a node, and makes the checksums fit.
  fileprivate mutating func storeInBody<Number: FixedWidthInteger>(
    of node: Int, _ number: Number, at offset: Int
  ) {
    store(number, at: nodes[node].start + Header.size + nodes[node].refCount * Self.refWidth + offset)
    vouch(for: node)
  }

  /// Replaces the ref of the first child of `node` with the ref of the node that is `steps` above `node`, or of `node`
  /// itself.
  fileprivate mutating func makeCycle(at node: Int, steps: Int, lies: Bool) {
    guard let child = children(of: node).first else { return }
    var target = node
    for _ in 0..<steps { target = nodes[target].parent ?? target }
    var ref = nodes[target].ref
    if lies { ref.identity = (ref.identity << 8) >> 8 | UInt64(nodes[child].ref.level) << 56 }
    redirect(child, to: ref)
  }

  fileprivate mutating func appendSharedChunks(bytes count: Int, depth: Int, fanOut: Int) -> Ref {
    var body = [UInt8](repeating: 0, count: 8 + count)
    body.store(UInt32(count), at: 0)
    var child = append(.chunk, level: 0, body: body)
    var length = UInt64(count)
    for level in 1...depth {
      var counts = [UInt8](repeating: 0, count: 8 * fanOut)
      for index in 0..<fanOut { counts.store(length, at: 8 * index) }
      child = append(
        .chunkBranch, level: UInt8(level), refs: [Ref](repeating: child, count: fanOut), body: counts)
      length *= UInt64(fanOut)
    }
    return child
  }

  fileprivate mutating func appendSharedBranches(depth: Int, fanOut: Int) -> Ref {
    var child = append(.leaf, level: 0, body: Self.leafBody(keys: [[0x61]]))
    var separators: [[UInt8]] = [[]]
    for index in 1..<fanOut { separators.append([0x62, UInt8(index)]) }
    // No branch may claim more rows than the format allows.
    let limit = (UInt64(1) << 62) / UInt64(fanOut) - 1
    var rows: UInt64 = 1
    for level in 1...depth {
      let body = Self.branchBody(rows: [UInt64](repeating: rows, count: fanOut), separators: separators)
      child = append(.branch, level: UInt8(level), refs: [Ref](repeating: child, count: fanOut), body: body)
      rows = min(limit, rows * UInt64(fanOut))
    }
    return child
  }

  /// The body of a leaf in which all keys have the same length and all entries the same value.
  fileprivate static func leafBody(keys: [[UInt8]], prefix: [UInt8] = [], value: [UInt8] = []) -> [UInt8] {
    var body = [UInt8](repeating: 0, count: 8)
    body.store(UInt16(keys.count), at: 0)
    body.store(UInt16(prefix.count), at: 2)
    body.store(UInt16(keys[0].count), at: 4)
    body.store(UInt16(value.count), at: 6)
    body += prefix
    for key in keys { body += key }
    for _ in keys { body += value }
    return body
  }

  fileprivate static func pieceBody(_ ends: [UInt16], heap: Int) -> [UInt8] {
    var body = [UInt8](repeating: 0, count: 2 + 2 * ends.count)
    body.store(UInt16(ends.count), at: 0)
    for (row, end) in ends.enumerated() { body.store(end, at: 2 + 2 * row) }
    return body + [UInt8](repeating: 0x61, count: heap)
  }

  fileprivate static func branchBody(rows: [UInt64], separators: [[UInt8]]) -> [UInt8] {
    var body = [UInt8](repeating: 0, count: 10 * rows.count)
    var end = 0
    for index in rows.indices {
      end += separators[index].count
      body.store(rows[index], at: 8 * index)
      body.store(UInt16(end), at: 8 * rows.count + 2 * index)
    }
    for separator in separators { body += separator }
    return body
  }
}
