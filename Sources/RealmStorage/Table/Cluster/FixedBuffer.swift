/// The values of a fixed-size column of a cluster, one by one.
struct FixedBuffer: Sendable {
  private let storage: ColumnStorage
  private var integers: [Int64] = []
  private var bytes: [UInt8] = []
  private var nanoseconds = RareValues<Int64>(usual: 0)
  private var nulls = RareValues(usual: false)

  /// The values of rows of a cluster that lacks the column.
  init(absent column: Column, rows: Int) {
    storage = column.storage
    let value = column.absentValue
    for row in 0..<rows { insert(value, at: row) }
  }

  init(_ column: Column, parts: [Cluster.FixedPart], rows: Int) {
    storage = column.storage
    let part = parts[0]
    nulls = Self.nulls(part, rows: rows)
    let isAllNull = Int(part.nullCount) == rows
    let values = part.nullCount == 0 || isAllNull ? part.data : Array(part.data.dropFirst((rows + 7) / 8))
    switch storage {
    case .integers, .dates:
      integers = isAllNull ? [Int64](repeating: 0, count: rows) : Self.unpack(part, values, rows: rows)
      guard storage == .dates else { return }
      nanoseconds =
        parts.count > 1
        ? RareValues(Self.unpack(parts[1], parts[1].data, rows: rows), usual: 0)
        : RareValues(repeating: 0, count: rows, usual: 0)
    case .fixed(let size): bytes = isAllNull ? [UInt8](repeating: 0, count: rows * size) : values
    case .varying, .composite: preconditionFailure("a column of varying size is no buffer")
    }
  }

  /// Of codes, with room for so many rows.
  init(codesOf rows: Int) {
    storage = .integers
    integers.reserveCapacity(rows)
  }

  /// Of the codes of a column of varying size.
  init(codes part: Cluster.FixedPart, rows: Int) {
    storage = .integers
    nulls = Self.nulls(part, rows: rows)
    let hasBits = part.nullCount > 0 && Int(part.nullCount) < rows
    integers =
      Int(part.nullCount) == rows
      ? [Int64](repeating: 0, count: rows)
      : Self.unpack(part, hasBits ? Array(part.data.dropFirst((rows + 7) / 8)) : part.data, rows: rows)
  }

  /// The code of a row; nil for null.
  func code(_ row: Int) -> Int64? { nulls[row] ? nil : integers[row] }

  /// Whether the dictionary may have all codes.
  var areCodes: Bool { !integers.contains { $0 >= Int64(ColumnDictionary.maximumCount) } }

  /// Whether the parts are what columns of that type are stored as.
  static func isForm(_ parts: [Cluster.FixedPart], of column: Column) -> Bool {
    switch column.storage {
    case .integers: parts.count == 1 && parts[0].encoding == .integers
    case .dates:
      parts[0].encoding == .integers
        && (parts.count == 1 || (parts.count == 2 && parts[1].encoding == .nanoseconds))
    case .fixed(let size): parts.count == 1 && parts[0].encoding == .fixed && Int(parts[0].width) == size
    case .varying, .composite: false
    }
  }

  private static func unpack(_ part: Cluster.FixedPart, _ values: [UInt8], rows: Int) -> [Int64] {
    let bytes = values.span.bytes
    return PackedIntegers.unpack(bytes, count: rows, width: Int(part.width), base: part.least)
  }

  private static func nulls(_ part: Cluster.FixedPart, rows: Int) -> RareValues<Bool> {
    if part.nullCount == 0 || Int(part.nullCount) == rows {
      return RareValues(repeating: part.nullCount > 0, count: rows, usual: false)
    }
    return RareValues((0..<rows).map { part.data[$0 / 8] & (1 << UInt8($0 % 8)) != 0 }, usual: false)
  }

  // MARK: - Changing

  mutating func insert(_ value: Value, at row: Int) {
    nulls.insert(value == .null, at: row)
    switch storage {
    case .integers: integers.insert(value.integer, at: row)
    case .dates:
      let (seconds, rest) = value.moment
      integers.insert(seconds, at: row)
      nanoseconds.insert(rest, at: row)
    case .fixed(let size): bytes.insert(contentsOf: value.fixedBytes(size), at: row * size)
    case .varying, .composite: break
    }
  }

  /// Puts a value into each row that is null; answers whether there was one.
  mutating func replaceNulls(with value: Value) -> Bool {
    let rows = (0..<self.rows).filter { nulls[$0] }
    for row in rows { set(value, at: row) }
    return !rows.isEmpty
  }

  var rows: Int { nulls.count }

  /// The value of a row as one of a column.
  func value(_ row: Int, of column: Column) -> Value {
    if nulls[row] { return .null }
    switch storage {
    case .integers: return column.value(integer: integers[row])
    case .dates:
      // Only a forged node has others.
      let rest = Timestamp.nanosecondRange.contains(nanoseconds[row]) ? Int32(nanoseconds[row]) : 0
      return .date(Timestamp(seconds: integers[row], nanoseconds: rest))
    case .fixed(let size): return column.value(fixed: bytes.span.bytes, row, size: size)
    case .varying, .composite: preconditionFailure("a column of varying size is no buffer")
    }
  }

  /// Takes rows away that follow each other.
  mutating func remove(_ rows: Range<Int>) {
    nulls.remove(rows)
    switch storage {
    case .integers: integers.removeSubrange(rows)
    case .dates:
      integers.removeSubrange(rows)
      nanoseconds.remove(rows)
    case .fixed(let size): bytes.removeSubrange(rows.lowerBound * size..<rows.upperBound * size)
    case .varying, .composite: break
    }
  }

  @inline(__always)
  mutating func append(_ number: Int64) {
    nulls.append(false)
    integers.append(number)
  }

  @inline(__always)
  mutating func append(_ date: Timestamp) {
    nulls.append(false)
    integers.append(date.seconds)
    nanoseconds.append(Int64(date.nanoseconds))
  }

  @inline(__always)
  mutating func append(_ number: Double) {
    nulls.append(false)
    bytes.appendInteger(number.bitPattern)
  }

  mutating func append(_ value: Value) {
    nulls.append(value == .null)
    switch storage {
    case .integers: integers.append(value.integer)
    case .dates:
      let (seconds, rest) = value.moment
      integers.append(seconds)
      nanoseconds.append(rest)
    case .fixed(let size): bytes.append(fixed: value, size: size)
    case .varying, .composite: break
    }
  }

  /// Adds the values of another of the same column, after those that are here.
  mutating func append(contentsOf other: FixedBuffer) {
    integers += other.integers
    bytes += other.bytes
    nanoseconds.append(contentsOf: other.nanoseconds)
    nulls.append(contentsOf: other.nulls)
  }

  mutating func removeLast() { remove(nulls.count - 1) }

  mutating func remove(_ row: Int) {
    nulls.remove(at: row)
    switch storage {
    case .integers: integers.remove(at: row)
    case .dates:
      integers.remove(at: row)
      nanoseconds.remove(at: row)
    case .fixed(let size): bytes.removeSubrange(row * size..<(row + 1) * size)
    case .varying, .composite: break
    }
  }

  /// Forgets all rows but those at places in order.
  mutating func keep(_ places: [UInt16]) {
    if case .fixed(let size) = storage {
      bytes = Gather.fixed(places, of: bytes.span.bytes, count: rows, size: size)
    }
    nulls.keep(places)
    if !integers.isEmpty { integers = places.map { integers[Int($0)] } }
    if storage == .dates { nanoseconds.keep(places) }
  }

  mutating func set(_ value: Value, at row: Int) {
    remove(row)
    insert(value, at: row)
  }

  /// Changes the numbers of some rows that are not null; answers whether one is another now.
  ///
  /// - Precondition: they are of a column of integers.
  mutating func change<Rows: Sequence<Int>>(_ rows: Rows, _ change: (Int64) -> Int64) -> Bool {
    var isChanged = false
    for row in rows where !nulls[row] {
      let new = change(integers[row])
      isChanged = isChanged || new != integers[row]
      integers[row] = new
    }
    return isChanged
  }

  /// The same of doubles.
  mutating func change<Rows: Sequence<Int>>(_ rows: Rows, _ change: (Double) -> Double) -> Bool {
    var isChanged = false
    let nulls = nulls
    var span = bytes.mutableSpan
    var cells = span.mutableBytes
    for row in rows where !nulls[row] {
      let old = cells.unsafeLoad(fromByteOffset: 8 * row, as: UInt64.self)
      let new = change(Double(bitPattern: UInt64(littleEndian: old))).bitPattern.littleEndian
      isChanged = isChanged || new != old
      cells.storeBytes(of: new, toByteOffset: 8 * row, as: UInt64.self)
    }
    return isChanged
  }

  // MARK: - Packing

  /// What descriptors tell of the values of a column: of the nanoseconds of dates apart, where there are some.
  func describe(as column: UInt16) -> (values: ClusterNode.Descriptor, rest: ClusterNode.Descriptor?) {
    switch storage {
    case .integers: return (Self.describe(integers, nulls.others, as: column), nil)
    case .dates:
      let seconds = Self.describe(integers, nulls.others, as: column)
      guard nanoseconds.others.contains(where: { $0 != 0 }) else { return (seconds, nil) }
      var rest = Self.describe(nanoseconds.others, [], as: column)
      rest.encoding = .nanoseconds
      return (seconds, rest)
    case .fixed(let size):
      let nullCount = Self.count(nulls.others)
      return (
        ClusterNode.Descriptor(
          column: column, encoding: .fixed, width: UInt8(size), nullCount: UInt16(nullCount), least: 0,
          greatest: 0, offset: 0, length: Self.bitBytes(nullCount, of: rows, values: bytes.count)), nil
      )
    case .varying, .composite: preconditionFailure("a column of varying size is no buffer")
    }
  }

  /// The same, of numbers that are codes of a column of varying size.
  func describeCodes(of column: UInt16) -> ClusterNode.Descriptor {
    var descriptor = Self.describe(integers, nulls.others, as: column)
    descriptor.encoding = .codes
    return descriptor
  }

  /// - Parameter nulls: of each value whether it is null; none where no value is.
  static func describe(_ values: [Int64], _ nulls: [Bool], as column: UInt16) -> ClusterNode.Descriptor {
    let nullCount = count(nulls)
    var descriptor = ClusterNode.Descriptor(
      column: column, encoding: .integers, width: 0, nullCount: UInt16(nullCount), least: 0, greatest: 0,
      offset: 0, length: 0)
    guard nullCount < values.count else { return descriptor }
    var (least, greatest) = (Int64.max, Int64.min)
    if nullCount > 0 {
      for row in values.indices where !nulls[row] {
        least = min(least, values[row])
        greatest = max(greatest, values[row])
      }
    } else {
      for value in values {
        least = min(least, value)
        greatest = max(greatest, value)
      }
    }
    let width = PackedIntegers.width(forRange: UInt64(bitPattern: greatest &- least))
    (descriptor.least, descriptor.greatest, descriptor.width) = (least, greatest, UInt8(width))
    descriptor.length = bitBytes(
      nullCount, of: values.count, values: PackedIntegers.byteCount(values.count, width: width))
    return descriptor
  }

  /// Packs the values as a descriptor of theirs tells, from an offset of a node's body on.
  func pack(_ descriptor: ClusterNode.Descriptor, to node: borrowing NodeWriter, at offset: Int) {
    guard Int(descriptor.nullCount) < rows else { return }
    let bits = Self.bits(nulls.others, descriptor)
    node.copy(bits, at: offset)
    guard descriptor.encoding != .fixed else { return node.copy(bytes, at: offset + bits.count) }
    PackedIntegers.pack(
      numbers(descriptor), base: descriptor.least, width: Int(descriptor.width),
      into: node.bytes(at: offset + bits.count, count: descriptor.length - bits.count))
  }

  /// The same, by themselves.
  private func data(_ descriptor: ClusterNode.Descriptor) -> [UInt8] {
    guard Int(descriptor.nullCount) < rows else { return [] }
    let values =
      descriptor.encoding == .fixed
      ? bytes
      : PackedIntegers.pack(numbers(descriptor), base: descriptor.least, width: Int(descriptor.width))
    return descriptor.nullCount == 0 ? values : Self.bits(nulls.others, descriptor) + values
  }

  /// What is packed for a descriptor: in place of nulls the least.
  private func numbers(_ descriptor: ClusterNode.Descriptor) -> [Int64] {
    if descriptor.encoding == .nanoseconds { return nanoseconds.others }
    guard descriptor.nullCount > 0 else { return integers }
    var stored = integers
    for row in stored.indices where nulls[row] { stored[row] = descriptor.least }
    return stored
  }

  /// A bit for each value that tells whether it is null, where one is.
  private static func bits(_ nulls: [Bool], _ descriptor: ClusterNode.Descriptor) -> [UInt8] {
    guard descriptor.nullCount > 0 else { return [] }
    var bits = [UInt8](repeating: 0, count: (nulls.count + 7) / 8)
    for row in nulls.indices where nulls[row] { bits[row / 8] |= 1 << UInt8(row % 8) }
    return bits
  }

  private static func count(_ nulls: [Bool]) -> Int { nulls.reduce(0) { $0 + ($1 ? 1 : 0) } }

  /// Bytes of values behind their bits, where there are any; none where all are null.
  private static func bitBytes(_ nullCount: Int, of rows: Int, values: Int) -> Int {
    nullCount == 0 ? values : nullCount == rows ? 0 : (rows + 7) / 8 + values
  }

  func packedCodes() -> Cluster.FixedPart { part(describeCodes(of: 0)) }

  func packed() -> [Cluster.FixedPart] {
    let (values, rest) = describe(as: 0)
    guard let rest else { return [part(values)] }
    return [part(values), part(rest)]
  }

  private func part(_ descriptor: ClusterNode.Descriptor) -> Cluster.FixedPart {
    Cluster.FixedPart(descriptor, data: data(descriptor))
  }
}

extension Value {
  /// As an integer column stores it.
  var integer: Int64 {
    switch self {
    case .bool(let flag): flag ? 1 : 0
    case .int(let number): number
    case .link(let key): Int64(bitPattern: key)
    default: 0
    }
  }

  fileprivate var moment: (Int64, Int64) {
    if case .date(let date) = self { (date.seconds, Int64(date.nanoseconds)) } else { (0, 0) }
  }

  /// As a column of fixed bytes stores it.
  fileprivate func fixedBytes(_ size: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(fixed: self, size: size)
    return bytes
  }
}

extension [UInt8] {
  /// Appends a value as a column of fixed bytes stores it.
  fileprivate mutating func append(fixed value: Value, size: Int) {
    switch value {
    case .float(let number): appendInteger(number.bitPattern)
    case .double(let number): appendInteger(number.bitPattern)
    case .objectID(let id):
      appendHighestFirst(id.high)
      appendHighestFirst(id.low)
    case .uuid(let id), .decimal128(let id):
      appendHighestFirst(id.high)
      appendHighestFirst(id.low)
    default: append(contentsOf: repeatElement(0, count: size))
    }
  }
}
