import RealmTestSupport
import Testing

@testable import RealmStorage

/// Readers rely on validators to check bytes that may hold anything, and do not check again.
@Suite struct HostileClusterTests {
  private func withArena(_ body: (NodeEditor) throws -> Void) throws {
    let database = try Database(inMemory: "test")
    let transaction = try database.beginWrite()
    try body(transaction.editor)
    transaction.cancel()
  }

  private static let schema: TableSchema = {
    var schema = TableSchema(
      "T", columns: ColumnType.allCases.map { Column("c\($0.rawValue)", $0, isOptional: true) })
    for index in schema.columns.indices { schema.columns[index].id = UInt16(index + 1) }
    return schema
  }()

  private func cluster(_ generator: inout SeededGenerator, _ editor: NodeEditor) throws -> [UInt8] {
    var cluster = Cluster()
    let columns = Self.schema.columns
    var keys: [UInt64] = []
    let rows = 1 + generator.below(20)
    var next: UInt64 = 0
    for _ in 0..<rows {
      next += UInt64(1 + generator.below(3))
      keys.append(next)
    }
    for column in columns where !column.storage.hasPieces {
      cluster.keys = keys
      var values = try cluster.unpack(column, editor)
      let hasNulls = generator.chance(50)
      for row in 0..<rows where !hasNulls || generator.chance(80) {
        switch column.type {
        case .int64: values.set(.int(Int64(generator.below(1 << 20))), at: row)
        case .bool: values.set(.bool(generator.chance(50)), at: row)
        case .double: values.set(.double(Double(generator.below(1 << 20))), at: row)
        case .date:
          let nanoseconds = generator.chance(50) ? Int32(generator.below(1000)) : 0
          values.set(
            .date(Timestamp(seconds: Int64(generator.below(1 << 20)), nanoseconds: nanoseconds)), at: row)
        default: break
        }
      }
      cluster.pack(values, as: column)
    }
    cluster.keys = keys
    if generator.chance(50) {
      var codes = FixedBuffer(codesOf: rows)
      for _ in keys { codes.append(generator.chance(20) ? .null : .int(Int64(generator.below(1 << 16)))) }
      cluster.setCodes(codes, of: columns[Int(ColumnType.string.rawValue) - 1])
    }
    let access = editor.access()
    let view = try access.node(cluster.write(editor))
    return view.bytes(at: 0, count: view.bodyLength).array
  }

  @Test(arguments: 0..<4)
  func `a cluster that the validator accepts can be read`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var accepted = 0
    try withArena { editor in
      for _ in 0..<3000 {
        var body = try cluster(&generator, editor)
        for _ in 0..<generator.below(4) { body[generator.below(body.count)] = UInt8(generator.below(256)) }
        if generator.chance(10) { body = generator.bytes(generator.below(200)) }
        let arena = editor.arena
        let node = arena.make(kind: .cluster, level: 0, refCount: 0, bodyLength: body.count)
        node.copy(body, at: 0)
        let access = editor.access()
        let view = try access.node(node.ref)
        if ClusterNode.isValid(view) {
          accepted += 1
          read(ClusterNode(view))
        }
        editor.free(node.ref)
      }
    }
    #expect(accepted > 100)
  }

  @Test(arguments: 0..<4)
  func `gathering some rows of a cluster gives the same as copying it, or both are refused`(seed: UInt64)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    var (gathered, refused) = (0, 0)
    try withArena { editor in
      for _ in 0..<2000 {
        var body = try cluster(&generator, editor)
        // Most changed bytes are in the descriptors: encodings, nulls, least and greatest values.
        let head = min(body.count, 16 + 32 * Self.schema.columns.count)
        for _ in 0..<generator.below(4) { body[generator.below(head)] = UInt8(generator.below(8)) }
        let arena = editor.arena
        let node = arena.make(kind: .cluster, level: 0, refCount: 0, bodyLength: body.count)
        node.copy(body, at: 0)
        let ref = node.ref
        let access = editor.access()
        let view = try access.node(ref)
        guard ClusterNode.isValid(view) else { continue }
        let keys = ClusterNode(view).keys()
        var places: [UInt16] = []
        for place in keys.indices where generator.chance(60) { places.append(UInt16(place)) }
        guard !places.isEmpty else { continue }
        let direct = try? Cluster(places, keys: keys, of: ClusterNode(view), at: ref, Self.schema, editor)
        let copied = try? copy(places, of: Cluster(ref, access), editor)
        if direct == nil { refused += 1 } else { gathered += 1 }
        #expect(
          try direct.map { try bytes($0.write(editor), editor) }
            == copied.map { try bytes($0.write(editor), editor) })
      }
    }
    #expect(gathered > 100 && refused > 0)
  }

  private func copy(_ places: [UInt16], of cluster: Cluster, _ editor: NodeEditor) throws -> Cluster {
    var part = Cluster(keys: places.map { cluster.keys[Int($0)] }, columns: 0)
    for column in Self.schema.columns where cluster.has(column) {
      if let kept = try cluster.kept(places, of: column, editor) { part.set(kept, of: column.id) }
    }
    return part
  }

  private func bytes(_ ref: Ref, _ editor: NodeEditor) throws -> [UInt8] {
    let access = editor.access()
    let view = try access.node(ref)
    return view.bytes(at: 0, count: view.bodyLength).array
  }

  private func read(_ cluster: borrowing ClusterNode) {
    for row in 0..<cluster.rows {
      #expect(cluster.row(of: cluster.key(row)) == row)
      for index in 0..<cluster.columnCount {
        let descriptor = cluster.descriptor(index)
        guard !cluster.isNull(descriptor, row) else { continue }
        switch descriptor.encoding {
        case .integers, .nanoseconds, .codes: _ = cluster.integer(descriptor, row)
        case .fixed:
          let width = Int(descriptor.width)
          #expect(cluster.data(descriptor).extracting(row * width..<(row + 1) * width).byteCount == width)
        case .trees: for tree in cluster.trees(descriptor) { _ = (tree.row, tree.ref.length) }
        case .pieces: _ = cluster.piece(descriptor, row)
        }
      }
    }
  }

  @Test(arguments: 0..<4)
  func `a piece that the validator accepts can be read`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var accepted = 0
    try withArena { editor in
      for _ in 0..<3000 {
        var buffer = PieceBuffer()
        for _ in 0...generator.below(30) {
          if generator.chance(20) {
            buffer.appendNull()
          } else {
            let bytes = generator.bytes(generator.below(30))
            try buffer.append(bytes.span.bytes, editor: editor)
          }
        }
        let pieces = buffer.makePieces(from: 0, editor: editor)
        let access = editor.access()
        let whole = try access.node(pieces[0].ref)
        var body = whole.bytes(at: 0, count: whole.bodyLength).array
        for _ in 0..<generator.below(3) { body[generator.below(body.count)] = UInt8(generator.below(256)) }
        let arena = editor.arena
        let node = arena.make(kind: .piece, level: 0, refCount: 0, bodyLength: body.count)
        node.copy(body, at: 0)
        let view = try access.node(node.ref)
        if PieceNode.isValid(view) {
          accepted += 1
          let piece = PieceNode(view)
          for row in 0..<piece.rows where !piece.isNull(row) && piece.long(row) == nil {
            _ = piece.bytes(row).byteCount
          }
        }
        editor.free(node.ref)
        editor.free(pieces[0].ref)
      }
    }
    #expect(accepted > 100)
  }

  @Test func `adding rows to a cluster whose pieces hold too many values is refused as damage`() throws {
    try withArena { editor in
      let schema = TableSchema("T", columns: [Column("text", .string)])
      func piece(_ rows: Int) throws -> Ref {
        var values = PieceBuffer()
        for _ in 0..<rows { try values.append("same", editor: editor) }
        return values.makePieces(from: 0, editor: editor)[0].ref
      }
      var cluster = Cluster(keys: Array(0..<100), columns: 1)
      // Of the first piece only its first row is checked, and of the last piece only that its rows end with those of
      // the cluster.
      cluster.setPieces([(0, try piece(40)), (10, try piece(90))], of: schema.columns[0])
      let buffer = try AppendBuffer(
        cluster.write(editor), schema: schema, rowLimit: 512, indexes: [],
        dictionaries: DictionaryWriters(ColumnTrees(), editor: editor), nestedIDs: NestedIDs(1),
        editor: editor)
      buffer.beginRow(100)
      try buffer.endRow()
      #expect(throws: StorageError.self) { try buffer.encode() }
    }
  }
}
