/// The sum and the average of a column's numbers, which are added a cluster at a time.
struct Aggregate {
  let column: Column
  /// The number of values that are neither null nor NaN. It has 128 bits because there may be more ways to a row than
  /// 64 bits can count.
  private(set) var count: Int128 = 0
  /// The sum of whole numbers.
  private(set) var whole: Int128 = 0
  /// The sum of floats and doubles.
  private(set) var real = 0.0
  private(set) var decimal = DecimalNumber(0 as Int)
  private(set) var place = LikelyPlace()

  init(_ column: Column) { self.column = column }

  private var isReal: Bool { column.type.isReal }

  /// Adds the values of rows of a cluster.
  mutating func add(_ cluster: borrowing ClusterNode, _ rows: RowMask) {
    let isAll = rows.count == cluster.rows
    let isDecimal = column.type == .decimal128
    guard let descriptor = cluster.part(of: column) else {
      return addAbsent(rows.count)
    }
    guard Int(descriptor.nullCount) < cluster.rows else { return }
    place.note(descriptor, of: cluster)
    let data = cluster.data(descriptor)
    let values = rows.subtracting(cluster.nulls(descriptor))
    if isReal {
      let isDouble = column.type == .double
      if isAll {
        // Nulls are stored as zeros.
        let (sum, numbers) = PackedReals.sum(data, cluster.rows, isDouble: isDouble)
        real += sum
        count += Int128(max(0, numbers - Int(descriptor.nullCount)))
      } else {
        values.forEach { add(PackedReals.load(data, $0, isDouble: isDouble)) }
      }
    } else if isDecimal {
      values.forEach { add(DecimalNumber(SixteenBytes(number: PackedIntegers.number(data, $0, size: 16)))) }
    } else {
      let valueCount = values.count
      var distances: UInt128 = 0
      if isAll {
        // Nulls are stored as the least value.
        distances = PackedIntegers.sum(data, cluster.rows, width: Int(descriptor.width))
      } else {
        values.forEach { row in
          distances += UInt128(PackedIntegers.load(data, row, width: Int(descriptor.width)))
        }
      }
      whole += Int128(descriptor.least) * Int128(valueCount) + Int128(distances)
      count += Int128(valueCount)
    }
  }

  /// Adds the value that the column has in rows of a cluster without the column, once for each of the rows.
  private mutating func addAbsent(_ rows: Int) {
    switch column.absentValue {
    case .int(let number):
      whole += Int128(number) * Int128(rows)
      count += Int128(rows)
    case .float(let number): addRepeated(Double(number), rows)
    case .double(let number): addRepeated(number, rows)
    case .decimal128(let stored):
      let number = DecimalNumber(stored)
      guard !number.isNaN else { return }
      decimal = decimal + number * DecimalNumber(rows)
      count += Int128(rows)
    default: break
    }
  }

  /// Adds a value `times` times. NaN and values that are no numbers are left out. A number has to be of the column's
  /// type.
  mutating func add(_ value: Value, times: Int) {
    if times == 1 { return add(value) }
    switch value {
    case .int(let number):
      addWhole(Int128(number) * Int128(times))
      count += Int128(times)
    case .float(let number): addRepeated(Double(number), times)
    case .double(let number): addRepeated(number, times)
    case .decimal128(let stored):
      let number = DecimalNumber(stored)
      guard !number.isNaN else { return }
      decimal = decimal + number * DecimalNumber(times)
      count += Int128(times)
    default: break
    }
  }

  /// Adds one value. NaN and values that are no numbers are left out. A number has to be of the column's type.
  mutating func add(_ value: Value) {
    switch value {
    case .int(let number):
      addWhole(Int128(number))
      count += 1
    case .float(let number): add(Double(number))
    case .double(let number): add(number)
    case .decimal128(let stored): add(DecimalNumber(stored))
    default: break
    }
  }

  /// Adds a whole number to the sum. The sum is kept between −2^126 and 2^126, so that it can't overflow. Both bounds
  /// are far beyond 64 bits.
  private mutating func addWhole(_ number: Int128) {
    let bound = Int128(1) << 126
    let (sum, isTooMuch) = whole.addingReportingOverflow(number)
    whole = isTooMuch ? (number < 0 ? -bound : bound) : Swift.max(-bound, Swift.min(bound, sum))
  }

  private mutating func addRepeated(_ number: Double, _ rows: Int) {
    guard !number.isNaN else { return }
    real += number * Double(rows)
    count += Int128(rows)
  }

  private mutating func add(_ number: Double) {
    guard !number.isNaN else { return }
    real += number
    count += 1
  }

  private mutating func add(_ number: DecimalNumber) {
    guard !number.isNaN else { return }
    decimal = decimal + number
    count += 1
  }

  var average: Value {
    guard count > 0 else { return .null }
    switch column.type {
    case .float, .double: return .double(real / Double(count))
    case .decimal128: return .decimal128((decimal / DecimalNumber(count)).stored)
    default: return .double(Double(whole) / Double(count))
    }
  }
}

/// The least or the greatest value of a column.
struct Extreme {
  let column: Column
  let isGreatest: Bool
  private(set) var value = Value.null
  private var best: UInt128?

  init(_ column: Column, isGreatest: Bool) {
    self.column = column
    self.isGreatest = isGreatest
  }

  mutating func add(
    _ cluster: borrowing ClusterNode, _ rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    let part = cluster.part(of: column)
    if column.type.isReal, rows.count == cluster.rows, let part, part.nullCount == 0 {
      let data = cluster.data(part)
      let found = PackedReals.extremes(data, cluster.rows, isDouble: column.type == .double)
      guard let found, best.map({ improves(found, $0) }) ?? true else { return }
    }
    if column.type == .decimal128 { return try addDecimals(cluster, rows, access) }
    let keys = SortColumn(column)
    if let part, part.encoding == .integers, cannotImprove(part) { return }
    try rows.forEach { (row) throws(StorageError) in
      let key = try keys.number(0, row, of: cluster, access)
      // The numbers of null and NaN are less than the numbers of all other values.
      guard key > SortColumn.nan, best.map({ isGreatest ? key > $0 : key < $0 }) ?? true else { return }
      best = key
      value = try TableReading.value(column, row, of: cluster, dictionary: .null, access)
    }
  }

  /// Adds decimals. They are compared as numbers, because their order is not that of their bytes.
  private mutating func addDecimals(
    _ cluster: borrowing ClusterNode, _ rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    try rows.forEach { (row) throws(StorageError) in
      let found = try TableReading.value(column, row, of: cluster, dictionary: .null, access)
      guard case .decimal128(let stored) = found, !DecimalNumber(stored).isNaN else { return }
      if case .decimal128(let best) = value {
        guard DecimalNumber(stored).order(DecimalNumber(best)) == (isGreatest ? 1 : -1) else { return }
      }
      value = found
    }
  }

  private func improves(_ found: ClosedRange<Double>, _ best: UInt128) -> Bool {
    let bound = isGreatest ? found.upperBound : found.lowerBound
    let key = SortColumn.number(of: bound)
    return isGreatest ? key > best : key < best
  }

  /// Whether the descriptor of a cluster shows that none of its values is better. This decides most clusters.
  private func cannotImprove(_ descriptor: ClusterNode.Descriptor) -> Bool {
    switch value {
    case .int(let number): isGreatest ? descriptor.greatest <= number : descriptor.least >= number
    case .date(let date): isGreatest ? descriptor.greatest < date.seconds : descriptor.least > date.seconds
    default: false
    }
  }
}
