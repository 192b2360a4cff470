extension AnyBSON: ExpressibleByStringLiteral {
  /// Makes a `string`.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension AnyBSON: ExpressibleByBooleanLiteral {
  /// Makes a `bool`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension AnyBSON: ExpressibleByFloatLiteral {
  /// Makes a `double`.
  public init(floatLiteral value: Double) { self = .double(value) }
}

extension AnyBSON: ExpressibleByIntegerLiteral {
  /// Makes an `int64`.
  public init(integerLiteral value: Int64) { self = .int64(value) }
}

extension AnyBSON: ExpressibleByDictionaryLiteral {
  /// Makes a `document`. If a key stands several times, its last value is kept.
  public init(dictionaryLiteral elements: (String, AnyBSON?)...) {
    self = .document(Document(elements, uniquingKeysWith: { $1 }))
  }
}

extension AnyBSON: ExpressibleByArrayLiteral {
  /// Makes an `array`.
  public init(arrayLiteral elements: AnyBSON?...) { self = .array(elements) }
}
