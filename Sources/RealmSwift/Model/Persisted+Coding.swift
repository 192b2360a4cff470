/// A property wrapper whose property becomes nil if the decoded data has no key for it.
public protocol OptionalCodingWrapper {
  /// The type of the property, which is optional.
  associatedtype WrappedType: ExpressibleByNilLiteral
  /// Makes a property with a value.
  init(wrappedValue: WrappedType)
}

extension Persisted: OptionalCodingWrapper where Value: ExpressibleByNilLiteral {}

extension KeyedDecodingContainer {
  /// Decodes a wrapped property that may be nil; the property is nil if the key is missing. The decoding that the compiler
  /// makes for a class calls this method.
  ///
  /// - Throws: what the decoder throws.
  public func decode<T>(_ type: T.Type, forKey key: Key) throws -> T
  where T: Decodable, T: OptionalCodingWrapper {
    try decodeIfPresent(type, forKey: key) ?? T(wrappedValue: nil)
  }
}

extension Persisted: Decodable where Value: Decodable {
  /// Decodes a property with a value.
  ///
  /// - Throws: what the decoder throws; `DecodingError.dataCorrupted` if the values are nested deeper than the thread's stack
  ///   holds.
  public init(from decoder: any Decoder) throws {
    try Stack.check(decoder)
    self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
  }
}

extension Persisted: Encodable where Value: Encodable {
  /// Encodes the value of the property. For a managed object it encodes what the row holds; for an enumeration without a case
  /// for that, it encodes the raw value.
  ///
  /// - Throws: what the encoder throws; `EncodingError.invalidValue` if the values are nested deeper than the thread's stack
  ///   holds, or if the property does not know its object, which happens only if addresses have more than 48 bits.
  public func encode(to encoder: any Encoder) throws {
    try Stack.check(encoder)
    let value: Value
    switch storage {
    case .value(let found): value = found
    case .unset: value = Value._initial()
    case .encodable(let place):
      guard let object = place.object() else { throw notEncodable(encoder) }
      if Value._mayBeUnknown {
        let stored = object.stored(place.position)
        if Value._isUnknown(stored) { return try stored.encodePlain(to: encoder) }
      }
      value = Value._read(object, place.position)
    case .unknown(let place):
      guard let object = place.object() else { throw notEncodable(encoder) }
      return try object.unknownValue(place.position).encodePlain(to: encoder)
    case .managed, .recording: throw notEncodable(encoder)
    }
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }

  private func notEncodable(_ encoder: any Encoder) -> EncodingError {
    EncodingError.invalidValue(
      self,
      EncodingError.Context(
        codingPath: encoder.codingPath,
        debugDescription:
          "An object in a realm can't be encoded by itself here; encode a copy of it, made by init(value:)."))
  }
}
