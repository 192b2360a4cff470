/// A property wrapper whose property is nil where what is decoded has no key for it.
public protocol OptionalCodingWrapper {
  associatedtype WrappedType: ExpressibleByNilLiteral
  init(wrappedValue: WrappedType)
}

extension Persisted: OptionalCodingWrapper where Value: ExpressibleByNilLiteral {}

extension KeyedDecodingContainer {
  /// Chosen by the coding that the compiler makes for a class, so that a key may be missing.
  public func decode<T>(_ type: T.Type, forKey key: Key) throws -> T
  where T: Decodable, T: OptionalCodingWrapper {
    try decodeIfPresent(type, forKey: key) ?? T(wrappedValue: nil)
  }
}

extension Persisted: Decodable where Value: Decodable {
  public init(from decoder: any Decoder) throws {
    self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
  }
}

extension Persisted: Encodable where Value: Encodable {
  /// - Throws: `EncodingError.invalidValue` of an object in a realm, as its property does not know whose it is: encode a copy,
  ///   `Person(value: person)`. Else what the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    let value: Value
    switch storage {
    case .value(let found): value = found
    case .unset: value = Value._initial()
    case .managed, .recording:
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription:
            "An object in a realm can't be encoded by itself; encode a copy of it, made by init(value:)."))
    }
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}
