/// The numbers that stand for a column's values, in the order of sorts: first null, then NaN, then all other values,
/// and last the rows whose path reaches no value.
struct SortColumn {
  let column: Column
  /// The storage and the form of the column: they are kept, because each row is read by them.
  private let storage: ColumnStorage
  private let form: ColumnForm
  /// The dictionary of the column, for values that have codes.
  private let dictionary: Ref

  static let null: UInt128 = 0
  static let nan: UInt128 = 1
  private static let first: UInt128 = 2
  /// The number of a row whose path ends at a null link. It is greater than the number of each value.
  static let unreached: UInt128 = 1 << 125

  init(_ column: Column, dictionary: Ref = .null) {
    self.column = column
    storage = column.storage
    form = ColumnForm(column)
    self.dictionary = dictionary
  }

  /// Whether all values with this number are equal. Otherwise they may differ, like texts with the same first bytes.
  @inline(__always)
  func isExact(_ key: UInt128) -> Bool {
    switch column.type {
    case .string, .data: key & 15 != 15
    case .decimal128, .uuid, .mixed: key <= Self.nan || key == Self.unreached
    default: true
    }
  }

  var isText: Bool { storage == .varying }

  /// Whether `isExact` holds for the number of each value.
  var isAlwaysExact: Bool { storage == .integers || column.type.isReal }

  /// Bounds of the numbers of a cluster's values: no number is less or greater. It is nil if the cluster does not state
  /// them.
  func bounds(of cluster: borrowing ClusterNode) -> ClosedRange<UInt128>? {
    guard storage == .integers, let descriptor = cluster.integers(of: column.id),
      descriptor.nullCount == 0,
      descriptor.least <= descriptor.greatest
    else { return nil }
    return Self.first + OrderedDomain.number(of: descriptor.least)...Self.first
      + OrderedDomain.number(of: descriptor.greatest)
  }

  /// The number of bits of the column's short numbers; nil if it has none.
  var shortBits: Int? {
    if column.type == .string || column.type == .data { return 117 }
    return isAlwaysExact ? 65 : nil
  }

  /// The short number of a number. It has the same order, and leaves room for another number. The short number of a
  /// text has its first 14 bytes.
  @inline(__always)
  func short(_ number: UInt128) -> UInt128 { isText ? (number &>> 12) &<< 4 | number & 15 : number }

  /// The number of a row's value.
  ///
  /// - Parameter depth: how many times 15 bytes of a text are passed over.
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

  /// Adds the numbers of some rows of a cluster, in the order of `rows`. What the rows have in common is looked up
  /// once.
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
      // Floats have the order of the doubles that they equal.
      return Self.number(of: PackedReals.load(bytes, row, isDouble: size == 8))
    case .objectID: return Self.first + PackedIntegers.number(bytes, row, size: size)
    case .uuid: return max(Self.first, PackedIntegers.number(bytes, row, size: size) >> 8)
    default: return Self.first
    }
  }

  static func number(of real: Double) -> UInt128 {
    real.isNaN ? nan : first + UInt128((real == 0 ? 0 : real).order)
  }

  /// The number of a text from byte `start` on. It has a 1 as its highest bit, then 15 bytes, and in the lowest 4 bits
  /// the count of these bytes, which is 15 for all longer texts.
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
