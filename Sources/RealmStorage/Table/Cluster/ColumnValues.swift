/// Conversions from the forms in which a cluster stores values.
extension Column {
  func value(integer: Int64) -> Value {
    switch type {
    case .bool: .bool(integer != 0)
    case .link: .link(UInt64(bitPattern: integer))
    default: .int(integer)
    }
  }

  func value(fixed bytes: RawSpan, _ row: Int, size: Int) -> Value {
    switch type {
    case .float: .float(Float(bitPattern: UInt32(PackedIntegers.load(bytes, row, width: 32))))
    case .double: .double(Double(bitPattern: PackedIntegers.load(bytes, row, width: 64)))
    case .objectID: .objectID(ObjectIDBytes(number: PackedIntegers.number(bytes, row, size: size)))
    case .decimal128: .decimal128(SixteenBytes(number: PackedIntegers.number(bytes, row, size: size)))
    default: .uuid(SixteenBytes(number: PackedIntegers.number(bytes, row, size: size)))
    }
  }

  /// The value that some bytes encode; nil if they are no value of the column.
  func value(varying bytes: [UInt8]) -> Value? {
    if storage == .composite { return CompositeCell.decode(bytes, of: self) }
    guard type == .string else { return .data(bytes) }
    return String(validating: bytes, as: UTF8.self).map { .string($0) }
  }
}
