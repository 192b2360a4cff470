import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct ClusterLayoutTests {
  /// A value of a given width in bits, so that all ways of packing numbers are used.
  private static func value(_ column: Column, bits: Int, _ generator: inout SeededGenerator) -> Value {
    let number = bits == 0 ? 7 : Int64(truncatingIfNeeded: generator.next() >> UInt64(64 - bits))
    switch column.type {
    case .bool: return .bool(number & 1 == 0)
    case .int64: return .int(number)
    case .float: return .float(Float(number))
    case .double: return .double(Double(number))
    case .string: return .string(String(repeating: "é", count: Int(number & 15)))
    case .data: return .data(generator.bytes(Int(number & 31)))
    case .date: return .date(Timestamp(seconds: number, nanoseconds: Int32(bits < 20 ? 0 : number & 1023)))
    case .objectID: return .objectID(ObjectIDBytes(generator.bytes(12)))
    case .uuid: return .uuid(SixteenBytes(generator.bytes(16)))
    case .decimal128: return .decimal128(SixteenBytes(generator.bytes(16)))
    case .link: return .link(UInt64(number & 0xffff))
    case .mixed: return .int(number)
    }
  }

  private static func content(_ ref: Ref, _ editor: NodeEditor) throws -> ([UInt8], [Ref]) {
    let access = editor.access()
    let view = try access.node(ref, .cluster)
    let isValid = ClusterNode.isValid(view)
    #expect(isValid)
    return (view.bytes(at: 0, count: view.bodyLength).array, (0..<view.refCount).map { view.ref($0) })
  }

  @Test(arguments: 0..<8)
  func `columns that are packed together have the same bytes as columns that are packed one by one`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let database = try Database(inMemory: "cluster layout \(seed)")
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let editor = transaction.editor
    for round in 0..<60 {
      // The columns are in another order than their ids.
      var columns = ColumnType.allCases.enumerated().map { place, type in
        var column = Column(
          "c\(place)", type, isOptional: generator.chance(60) || type == .mixed || type == .link)
        column.id = UInt16(place * 2 + 1)
        return column
      }
      columns.shuffle(using: &generator)
      var schema = TableSchema("T", columns: columns)
      for place in columns.indices { schema.columns[place].id = columns[place].id }
      let buffer = AppendBuffer(
        schema: schema, rowLimit: 512, indexes: [],
        dictionaries: DictionaryWriters(ColumnTrees(), editor: editor), nestedIDs: NestedIDs(1),
        editor: editor)
      let bits = columns.map { _ in [0, 1, 2, 4, 8, 13, 16, 30, 32, 50, 64][generator.below(11)] }
      // The percentage of rows with null: none, some, or all.
      let nulls = columns.map { $0.isOptional ? [0, 30, 100][generator.below(3)] : 0 }
      var key = UInt64(generator.below(1_000))
      let gaps = generator.chance(50)
      let rows = 1 + generator.below(generator.chance(20) ? 512 : 30)
      var expected: [[Value]] = []
      for _ in 0..<rows {
        key += gaps ? UInt64(1 + generator.below(300)) : 1
        buffer.beginRow(key)
        var row: [Value] = []
        for (place, column) in columns.enumerated() {
          let isNull = generator.chance(nulls[place])
          row.append(isNull ? .null : Self.value(column, bits: bits[place], &generator))
          try buffer.set(place, row[place])
        }
        try buffer.endRow()
        expected.append(row)
      }
      let encodes = generator.chance(50)
      if encodes { try buffer.encode() }
      let made = try buffer.write(isLast: encodes).ref
      var cluster = try Cluster(made, editor.access())
      for (place, column) in columns.enumerated() where !column.storage.hasPieces {
        let values = try cluster.unpack(column, editor)
        cluster.pack(values, as: column)
        // The description of the unpacked values equals that of the same values in a new buffer.
        var again = FixedBuffer(absent: column, rows: 0)
        for row in expected { again.append(row[place]) }
        #expect(
          again.describe(as: column.id) == values.describe(as: column.id), "\(column.type), seed \(seed)")
      }
      let (one, other) = (try Self.content(made, editor), try Self.content(cluster.write(editor), editor))
      #expect(one == other, "round \(round), seed \(seed)")
    }
  }
}
