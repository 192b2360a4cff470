/// A test of a column of whole numbers, booleans or links.
final class IntegerTest: ClusterTest {
  let column: Column
  /// The ranges of the values that are found. They are sorted, and no range touches another.
  let ranges: [ClosedRange<Int64>]
  let verdict: Verdict
  override var cost: Int { max(1, min(ranges.count, 10)) }

  /// The greatest number of ranges that are tested one by one for all rows. If there are more, each row is looked up in
  /// the ranges.
  private static let maximumKernels = 8
  /// The numbers that are found, for a cluster whose numbers are close together.
  private var passing = NumberBits()
  private var place = LikelyPlace()

  init(_ column: Column, _ ranges: [OrderedDomain.Range], _ verdict: Verdict) {
    self.column = column
    self.verdict = verdict
    self.ranges = ranges.map { range in
      switch column.type {
      case .link, .bool:
        Int64(bitPattern: UInt64(range.lowerBound))...Int64(bitPattern: UInt64(range.upperBound))
      default: OrderedDomain.integer(range.lowerBound)...OrderedDomain.integer(range.upperBound)
      }
    }
  }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    guard let descriptor = cluster.integers(of: column.id) else {
      let value = column.absentValue
      return verdict.mask(
        ofAll: value == .null, isFound: ranges.contains { $0.contains(value.integer) }, within: rows)
    }
    guard Int(descriptor.nullCount) < cluster.rows else {
      return verdict.mask(ofAll: true, isFound: false, within: rows)
    }
    place.note(descriptor, of: cluster)
    let found = found(cluster, descriptor, within: rows)
    return verdict.mask(found, nulls: cluster.nulls(descriptor), within: rows)
  }

  override func prefetch(_ cluster: Ref, _ access: borrowing NodeAccess) { place.prefetch(cluster, access) }

  /// The rows among `rows` whose number is found. The result may have other rows too.
  private func found(
    _ cluster: borrowing ClusterNode, _ descriptor: ClusterNode.Descriptor, within rows: RowMask
  ) -> RowMask {
    if ranges.count == 1 { return cluster.mask(descriptor, in: ranges[0]) }
    var found = RowMask.none
    let near = ranges.touching(descriptor.least...descriptor.greatest)
    if near.count <= Self.maximumKernels {
      for range in ranges[near] { found = found | cluster.mask(descriptor, in: range) }
      return found
    }
    let (data, width) = (cluster.data(descriptor), Int(descriptor.width))
    if passing.hold(descriptor.least...descriptor.greatest, ranges[near]) {
      rows.forEach { row in
        if passing.contains(PackedIntegers.load(data, row, width: width)) { found.insert(row) }
      }
    } else {
      rows.forEach { row in
        let value = descriptor.least &+ Int64(bitPattern: PackedIntegers.load(data, row, width: width))
        if ranges.holds(value) { found.insert(row) }
      }
    }
    return found
  }
}

extension ClusterNode {
  /// The rows whose integer lies in a range. Null counts as the least integer of the cluster.
  ///
  /// - Precondition: not all rows are null.
  func mask(_ descriptor: Descriptor, in range: ClosedRange<Int64>) -> RowMask {
    guard range.lowerBound <= descriptor.greatest, range.upperBound >= descriptor.least else { return .none }
    if range.lowerBound <= descriptor.least, range.upperBound >= descriptor.greatest {
      return RowMask(first: rows)
    }
    let low = max(range.lowerBound, descriptor.least) &- descriptor.least
    let high = min(range.upperBound, descriptor.greatest) &- descriptor.least
    return PackedIntegers.mask(
      data(descriptor), rows, width: Int(descriptor.width),
      in: UInt64(bitPattern: low)...UInt64(bitPattern: high))
  }
}

/// A set of numbers that are close together: a bit for each number, by its distance from the least one.
private struct NumberBits {
  private var numbers: ClosedRange<Int64> = 0...0
  private var bits: [UInt64] = []

  private static let maximumSpan: UInt64 = 1 << 14

  /// Makes a bit for each number, which is set if one of the ranges contains the number.
  ///
  /// - Returns: false if the numbers are too far apart.
  mutating func hold(_ numbers: ClosedRange<Int64>, _ ranges: ArraySlice<ClosedRange<Int64>>) -> Bool {
    let span = UInt64(bitPattern: numbers.upperBound &- numbers.lowerBound)
    guard span < Self.maximumSpan else { return false }
    // Clusters that follow each other usually have the same numbers.
    if !bits.isEmpty, numbers == self.numbers { return true }
    self.numbers = numbers
    bits = Array(repeating: 0, count: Int(span / 64) + 1)
    for range in ranges {
      let touched = range.clamped(to: numbers)
      for number in touched {
        let distance = UInt64(bitPattern: number &- numbers.lowerBound)
        bits[Int(distance / 64)] |= 1 << (distance % 64)
      }
    }
    return true
  }

  @inline(__always)
  func contains(_ distance: UInt64) -> Bool {
    // A forged cluster may hold a distance that is greater than its descriptor says.
    distance >> 6 < UInt64(bits.count) && bits[Int(distance >> 6)] >> (distance & 63) & 1 != 0
  }
}

extension [ClosedRange<Int64>] {
  /// The places of the ranges that have a number in common with another range.
  fileprivate func touching(_ other: ClosedRange<Int64>) -> Range<Int> {
    let first = firstPlace { $0.upperBound >= other.lowerBound }
    let end = firstPlace { $0.lowerBound > other.upperBound }
    return first..<Swift.max(first, end)
  }

  private func firstPlace(_ holds: (ClosedRange<Int64>) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Whether one of these ranges, which are sorted, contains a number.
  fileprivate func holds(_ value: Int64) -> Bool {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low].lowerBound <= value
  }
}

extension Array {
  /// Whether one of these ranges, which are sorted, contains a value.
  fileprivate func have<Bound>(_ value: Bound) -> Bool where Element == ClosedRange<Bound> {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low].contains(value)
  }
}

/// A test of a column of doubles or floats.
final class RealTest: ClusterTest {
  /// The greatest number of ranges that are tested one by one for all rows. If there are more, each row is looked up in
  /// the ranges.
  fileprivate static let mostRanges = 8

  let column: Column
  let ranges: [ClosedRange<Double>]
  let verdict: Verdict
  private var place = LikelyPlace()
  override var cost: Int { 2 * max(1, min(ranges.count, 4 * Self.mostRanges)) }

  init(_ column: Column, _ ranges: [OrderedDomain.Range], _ verdict: Verdict) {
    self.column = column
    self.verdict = verdict
    self.ranges = ranges.map { range in
      column.type == .double
        ? Double(order: UInt64(range.lowerBound))...Double(order: UInt64(range.upperBound))
        : Double(Float(order: UInt32(range.lowerBound)))...Double(Float(order: UInt32(range.upperBound)))
    }
  }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    let isDouble = column.type == .double
    guard let descriptor = cluster.fixed(of: column.id, size: isDouble ? 8 : 4) else {
      let value = column.absentValue.real
      return verdict.mask(
        ofAll: value == nil, isFound: ranges.contains { $0.contains(value ?? 0) }, within: rows)
    }
    guard Int(descriptor.nullCount) < cluster.rows else {
      return verdict.mask(ofAll: true, isFound: false, within: rows)
    }
    place.note(descriptor, of: cluster)
    let data = cluster.data(descriptor)
    var found = RowMask.none
    if ranges.count > Self.mostRanges {
      rows.subtracting(cluster.nulls(descriptor)).forEach { row in
        if ranges.have(PackedReals.load(data, row, isDouble: isDouble)) { found.insert(row) }
      }
      return verdict.mask(found, nulls: cluster.nulls(descriptor), within: rows)
    }
    for range in ranges {
      found =
        found
        | (isDouble
          ? PackedReals.mask(doubles: data, cluster.rows, in: range)
          : PackedReals.mask(
            floats: data, cluster.rows, in: Float(range.lowerBound)...Float(range.upperBound)))
    }
    return verdict.mask(found, nulls: cluster.nulls(descriptor), within: rows)
  }

  override func prefetch(_ cluster: Ref, _ access: borrowing NodeAccess) { place.prefetch(cluster, access) }
}

/// A test of a column of dates.
final class DateTest: ClusterTest {
  let column: Column
  let ranges: [ClosedRange<Timestamp>]
  let verdict: Verdict
  private var place = LikelyPlace()
  override var cost: Int { 3 * max(1, ranges.count) }

  init(_ column: Column, _ ranges: [OrderedDomain.Range], _ verdict: Verdict) {
    self.column = column
    self.verdict = verdict
    self.ranges = ranges.map { OrderedDomain.date($0.lowerBound)...OrderedDomain.date($0.upperBound) }
  }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    guard let seconds = cluster.integers(of: column.id) else {
      guard case .date(let date) = column.absentValue else {
        return verdict.mask(ofAll: true, isFound: false, within: rows)
      }
      return verdict.mask(ofAll: false, isFound: ranges.contains { $0.contains(date) }, within: rows)
    }
    guard Int(seconds.nullCount) < cluster.rows else {
      return verdict.mask(ofAll: true, isFound: false, within: rows)
    }
    place.note(seconds, of: cluster)
    var found = RowMask.none
    if ranges.count > RealTest.mostRanges {
      rows.subtracting(cluster.nulls(seconds)).forEach { row in
        if ranges.have(cluster.date(column.id, seconds, row)) { found.insert(row) }
      }
    } else {
      for range in ranges { found = found | mask(of: cluster, seconds, range) }
    }
    return verdict.mask(found, nulls: cluster.nulls(seconds), within: rows)
  }

  /// The rows whose date lies in a range: the rows with its seconds, without those that come before the range in its
  /// first second, or after it in its last second.
  private func mask(
    of cluster: borrowing ClusterNode, _ seconds: ClusterNode.Descriptor, _ range: ClosedRange<Timestamp>
  ) -> RowMask {
    let (low, high) = (range.lowerBound, range.upperBound)
    var found = cluster.mask(seconds, in: low.seconds...high.seconds)
    guard !found.isEmpty else { return found }
    let nanoseconds = cluster.nanoseconds(of: column.id)
    if low.nanoseconds > 0 {
      var early = cluster.mask(seconds, in: low.seconds...low.seconds)
      if let nanoseconds { early = early & cluster.mask(nanoseconds, in: .min...Int64(low.nanoseconds) - 1) }
      found = found.subtracting(early)
    }
    if high.nanoseconds < 999_999_999, let nanoseconds {
      let late = cluster.mask(nanoseconds, in: Int64(high.nanoseconds) + 1 ... .max)
      found = found.subtracting(cluster.mask(seconds, in: high.seconds...high.seconds) & late)
    }
    return found
  }

  override func prefetch(_ cluster: Ref, _ access: borrowing NodeAccess) { place.prefetch(cluster, access) }
}

/// A test of a column of object ids or UUIDs.
final class IdentifierTest: ClusterTest {
  let column: Column
  let ranges: [OrderedDomain.Range]
  let verdict: Verdict
  override var cost: Int { 5 }

  init(_ column: Column, _ ranges: [OrderedDomain.Range], _ verdict: Verdict) {
    self.column = column
    self.ranges = ranges
    self.verdict = verdict
  }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    let size = column.type == .objectID ? 12 : 16
    guard let descriptor = cluster.fixed(of: column.id, size: UInt8(size)) else {
      let number = column.absentValue.identifierNumber
      return verdict.mask(ofAll: number == nil, isFound: number.map { holds($0) } ?? false, within: rows)
    }
    guard Int(descriptor.nullCount) < cluster.rows else {
      return verdict.mask(ofAll: true, isFound: false, within: rows)
    }
    let data = cluster.data(descriptor)
    var found = RowMask.none
    rows.forEach { row in
      if holds(PackedIntegers.number(data, row, size: size)) { found.insert(row) }
    }
    return verdict.mask(found, nulls: cluster.nulls(descriptor), within: rows)
  }

  private func holds(_ number: UInt128) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound <= number
  }
}

extension Value {
  /// A floating-point number as a double; nil for other values.
  fileprivate var real: Double? {
    switch self {
    case .float(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }

  /// The number that orders an object id or a UUID; nil for other values.
  fileprivate var identifierNumber: UInt128? {
    switch self {
    case .objectID(let id): id.number
    case .uuid(let id): id.number
    default: nil
    }
  }
}
