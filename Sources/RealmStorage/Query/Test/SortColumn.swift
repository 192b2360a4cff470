/// Numbers in place of a column's values, in the order of sorts: null, NaN, all others, and last what no value is reached of.
struct SortColumn {
  let column: Column
  /// The storage and the form of the column: they are kept, because each row is read by them.
  private let storage: ColumnStorage
  private let form: ColumnForm
  /// Of the column, where values have codes.
  private let dictionary: Ref

  static let null: UInt128 = 0
  static let nan: UInt128 = 1
  private static let first: UInt128 = 2
  /// Of a row whose path ends at a link that is null: more than the number of any value.
  static let unreached: UInt128 = 1 << 125

  init(_ column: Column, dictionary: Ref = .null) {
    self.column = column
    storage = column.storage
    form = ColumnForm(column)
    self.dictionary = dictionary
  }

  /// Whether values with this number are one; else they begin alike.
  @inline(__always)
  func isExact(_ key: UInt128) -> Bool {
    switch column.type {
    case .string, .data: key & 15 != 15
    case .decimal128, .uuid, .mixed: key <= Self.nan || key == Self.unreached
    default: true
    }
  }

  var isText: Bool { storage == .varying }

  /// Whether the number of each value tells it whole, as `isExact` says.
  var isAlwaysExact: Bool { storage == .integers || column.type.isReal }

  /// No number of a cluster's values is less or greater; nil where it does not tell that itself.
  func bounds(of cluster: borrowing ClusterNode) -> ClosedRange<UInt128>? {
    guard storage == .integers, let descriptor = cluster.integers(of: column.id),
      descriptor.nullCount == 0,
      descriptor.least <= descriptor.greatest
    else { return nil }
    return Self.first + OrderedDomain.number(of: descriptor.least)...Self.first
      + OrderedDomain.number(of: descriptor.greatest)
  }

  /// Bits of the short numbers of a column; nil where it has none.
  var shortBits: Int? {
    if column.type == .string || column.type == .data { return 117 }
    return isAlwaysExact ? 65 : nil
  }

  /// A number in the same order that leaves room for another one: of a text by its first 14 bytes.
  @inline(__always)
  func short(_ number: UInt128) -> UInt128 { isText ? (number &>> 12) &<< 4 | number & 15 : number }

  /// The number of a row's value.
  ///
  /// - Parameter depth: of texts, how many times 15 bytes are passed over.
  func number(
    _ depth: Int = 0, _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt128 {
    guard let part = cluster.part(of: form) else { return absentNumber(from: 15 * depth) }
    if storage == .varying { return try text(15 * depth, row, part, of: cluster, access) }
    if storage != .composite, cluster.isNull(part, row) { return Self.null }
    switch storage {
    case .integers: return Self.first + OrderedDomain.number(of: cluster.integer(part, row))
    case .dates: return Self.first + OrderedDomain.number(of: cluster.date(column.id, part, row))
    case .fixed(let size): return number(cluster.data(part), row, size)
    case .varying, .composite:
      let value = try TableReading.value(column, row, of: cluster, dictionary: .null, access)
      return value == .null ? Self.null : Self.first
    }
  }

  /// The numbers of some rows of a cluster, one after another: what they have in common is looked for once.
  func appendNumbers(
    _ depth: Int, _ rows: [UInt16], of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess,
    to numbers: inout NumberBuffer
  ) throws(StorageError) {
    if storage == .varying, let descriptor = cluster.varying(of: column.id), descriptor.encoding == .pieces {
      return try appendTexts(15 * depth, rows, descriptor, of: cluster, access, to: &numbers)
    }
    if storage == .integers, let descriptor = cluster.integers(of: column.id), descriptor.nullCount == 0 {
      if rows.count > cluster.rows / 2 {
        let values = cluster.integers(descriptor)
        for row in rows { numbers.append(Self.first + OrderedDomain.number(of: values[Int(row)])) }
      } else {
        for row in rows {
          numbers.append(Self.first + OrderedDomain.number(of: cluster.integer(descriptor, Int(row))))
        }
      }
      return
    }
    for row in rows { numbers.append(try number(depth, Int(row), of: cluster, access)) }
  }

  private func appendTexts(
    _ start: Int, _ rows: [UInt16], _ descriptor: ClusterNode.Descriptor, of cluster: borrowing ClusterNode,
    _ access: borrowing NodeAccess, to numbers: inout NumberBuffer
  ) throws(StorageError) {
    var next = 0
    while next < rows.count {
      let (ref, index) = cluster.piece(descriptor, Int(rows[next]))
      let piece = PieceNode(try access.node(ref, .piece))
      let first = Int(rows[next]) - index
      guard index < piece.rows else { throw access.corrupted(.rows, ref) }
      repeat {
        numbers.append(try number(start, piece.cell(Int(rows[next]) - first, in: ref), access))
        next += 1
      } while next < rows.count && Int(rows[next]) >= first && Int(rows[next]) < first + piece.rows
    }
  }

  /// The number of each row of a cluster that lacks the column.
  private func absentNumber(from start: Int = 0) -> UInt128 {
    switch column.absentValue {
    case .null: return Self.null
    case .bool(let flag): return Self.first + OrderedDomain.number(of: flag ? 1 : 0)
    case .int(let number): return Self.first + OrderedDomain.number(of: number)
    case .float(let number): return Self.number(of: Double(number))
    case .double(let number): return Self.number(of: number)
    case .date(let date): return Self.first + OrderedDomain.number(of: date)
    case .objectID(let id): return Self.first + id.number
    case .uuid(let id): return max(Self.first, id.number >> 8)
    case .string(let text): return Self.number(Array(text.utf8).span.bytes, from: start)
    case .data(let bytes): return Self.number(bytes.span.bytes, from: start)
    default: return Self.first
    }
  }

  private func number(_ bytes: RawSpan, _ row: Int, _ size: Int) -> UInt128 {
    switch column.type {
    case .float, .double:
      // The order of floats is that of the doubles they equal.
      return Self.number(of: PackedReals.load(bytes, row, isDouble: size == 8))
    case .objectID: return Self.first + PackedIntegers.number(bytes, row, size: size)
    case .uuid: return max(Self.first, PackedIntegers.number(bytes, row, size: size) >> 8)
    default: return Self.first
    }
  }

  static func number(of real: Double) -> UInt128 {
    real.isNaN ? nan : first + UInt128((real == 0 ? 0 : real).order)
  }

  /// 15 bytes from one on, behind a 1 and before their count, in which all longer ones are alike.
  private func text(
    _ start: Int, _ row: Int, _ part: ClusterNode.Descriptor, of cluster: borrowing ClusterNode,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt128 {
    try number(start, cluster.cell(part, row, dictionary: dictionary, access.lent), access)
  }

  @inline(__always)
  private func number(
    _ start: Int, _ cell: borrowing VaryingCell, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt128 {
    cell.isNull ? Self.null : try cell.content(access) { Self.number($0, from: start) }
  }

  @inline(__always)
  private static func number(_ text: RawSpan, from start: Int) -> UInt128 {
    let text = text.extracting(min(start, text.byteCount)..<text.byteCount)
    return 1 << 124 | PackedTexts.prefix(text) << 4 | UInt128(min(text.byteCount, 15))
  }
}
