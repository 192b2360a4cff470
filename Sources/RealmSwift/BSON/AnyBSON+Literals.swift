extension AnyBSON: ExpressibleByStringLiteral {
  /// A `string`.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension AnyBSON: ExpressibleByBooleanLiteral {
  /// A `bool`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension AnyBSON: ExpressibleByFloatLiteral {
  /// A `double`.
  public init(floatLiteral value: Double) { self = .double(value) }
}

extension AnyBSON: ExpressibleByIntegerLiteral {
  /// An `int64`.
  public init(integerLiteral value: Int64) { self = .int64(value) }
}

extension AnyBSON: ExpressibleByDictionaryLiteral {
  /// A `document`. Of values with one key, the last one is kept.
  public init(dictionaryLiteral elements: (String, AnyBSON?)...) {
    self = .document(Document(elements, uniquingKeysWith: { $1 }))
  }
}

extension AnyBSON: ExpressibleByArrayLiteral {
  /// An `array`.
  public init(arrayLiteral elements: AnyBSON?...) { self = .array(elements) }
}
