/// The unpacked values of a fixed-size column of a cluster, or the codes of a column of varying size.
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

  /// Makes an empty buffer of codes, with room for some rows.
  init(codesOf rows: Int) {
    storage = .integers
    integers.reserveCapacity(rows)
  }

  /// Unpacks the codes of a column of varying size.
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

  /// Whether no code is too great for a dictionary.
  var areCodes: Bool { !integers.contains { $0 >= Int64(ColumnDictionary.maximumCount) } }

  /// Whether the parts have the form in which a column of that type is stored.
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

  /// Sets the value of each row that is null. Returns whether there was one.
  mutating func replaceNulls(with value: Value) -> Bool {
    let rows = (0..<self.rows).filter { nulls[$0] }
    for row in rows { set(value, at: row) }
    return !rows.isEmpty
  }

  var rows: Int { nulls.count }

  /// The value of a row, as a value of the column.
  func value(_ row: Int, of column: Column) -> Value {
    if nulls[row] { return .null }
    switch storage {
    case .integers: return column.value(integer: integers[row])
    case .dates:
      // Only a forged node has nanoseconds that are out of range.
      let rest = Timestamp.nanosecondRange.contains(nanoseconds[row]) ? Int32(nanoseconds[row]) : 0
      return .date(Timestamp(seconds: integers[row], nanoseconds: rest))
    case .fixed(let size): return column.value(fixed: bytes.span.bytes, row, size: size)
    case .varying, .composite: preconditionFailure("a column of varying size is no buffer")
    }
  }

  /// Removes consecutive rows.
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

  /// Appends the values of another buffer of the same column.
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

  /// Removes all rows except those at `places`, which are in ascending order.
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

  /// Changes the numbers of those of the rows that are not null. Returns whether a number is different now.
  ///
  /// - Precondition: the buffer is of a column of integers.
  mutating func change<Rows: Sequence<Int>>(_ rows: Rows, _ change: (Int64) -> Int64) -> Bool {
    var isChanged = false
    for row in rows where !nulls[row] {
      let new = change(integers[row])
      isChanged = isChanged || new != integers[row]
      integers[row] = new
    }
    return isChanged
  }

  /// Changes the doubles of those of the rows that are not null. Returns whether the bits of a double are different
  /// now.
  ///
  /// - Precondition: the buffer is of a column of doubles.
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

  /// The descriptors of the values. `rest` is the descriptor of the nanoseconds of dates, if any of them is not zero.
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

  /// The descriptor of numbers that are codes of a column of varying size.
  func describeCodes(of column: UInt16) -> ClusterNode.Descriptor {
    var descriptor = Self.describe(integers, nulls.others, as: column)
    descriptor.encoding = .codes
    return descriptor
  }

  /// The descriptor of numbers.
  ///
  /// - Parameter nulls: for each value, whether it is null; the array may be empty if no value is null.
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

  /// Packs the values in the form of their descriptor, and stores them at an offset of a node's body.
  func pack(_ descriptor: ClusterNode.Descriptor, to node: borrowing NodeWriter, at offset: Int) {
    guard Int(descriptor.nullCount) < rows else { return }
    let bits = Self.bits(nulls.others, descriptor)
    node.copy(bits, at: offset)
    guard descriptor.encoding != .fixed else { return node.copy(bytes, at: offset + bits.count) }
    PackedIntegers.pack(
      numbers(descriptor), base: descriptor.least, width: Int(descriptor.width),
      into: node.bytes(at: offset + bits.count, count: descriptor.length - bits.count))
  }

  /// Packs the values in the form of their descriptor.
  private func data(_ descriptor: ClusterNode.Descriptor) -> [UInt8] {
    guard Int(descriptor.nullCount) < rows else { return [] }
    let values =
      descriptor.encoding == .fixed
      ? bytes
      : PackedIntegers.pack(numbers(descriptor), base: descriptor.least, width: Int(descriptor.width))
    return descriptor.nullCount == 0 ? values : Self.bits(nulls.others, descriptor) + values
  }

  /// The numbers that are packed for a descriptor. A null is stored as the least value.
  private func numbers(_ descriptor: ClusterNode.Descriptor) -> [Int64] {
    if descriptor.encoding == .nanoseconds { return nanoseconds.others }
    guard descriptor.nullCount > 0 else { return integers }
    var stored = integers
    for row in stored.indices where nulls[row] { stored[row] = descriptor.least }
    return stored
  }

  /// The bits that mark nulls, one for each value; empty if no value is null.
  private static func bits(_ nulls: [Bool], _ descriptor: ClusterNode.Descriptor) -> [UInt8] {
    guard descriptor.nullCount > 0 else { return [] }
    var bits = [UInt8](repeating: 0, count: (nulls.count + 7) / 8)
    for row in nulls.indices where nulls[row] { bits[row / 8] |= 1 << UInt8(row % 8) }
    return bits
  }

  private static func count(_ nulls: [Bool]) -> Int { nulls.reduce(0) { $0 + ($1 ? 1 : 0) } }

  /// The number of bytes of the null bits, if some but not all values are null, and of the values. It is 0 if all
  /// values are null.
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
  /// The number that an integer column stores for the value.
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

  /// The bytes that a column of fixed bytes stores for the value.
  fileprivate func fixedBytes(_ size: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(fixed: self, size: size)
    return bytes
  }
}

extension [UInt8] {
  /// Appends the bytes that a column of fixed bytes stores for a value.
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
