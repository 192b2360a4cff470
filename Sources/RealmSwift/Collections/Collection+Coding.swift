extension RealmCollection where Element: Encodable {
  /// As an array of its elements.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

extension List: Encodable where Element: Encodable {}
extension Results: Encodable where Element: Encodable {}
extension MutableSet: Encodable where Element: Encodable {}
extension LinkingObjects: Encodable where Element: Encodable {}

extension List: Decodable where Element: Decodable {
  /// An unmanaged list of the elements of an array.
  ///
  /// - Throws: what the decoder throws.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd { append(try container.decode(Element.self)) }
  }
}

extension MutableSet: Decodable where Element: Decodable {
  /// An unmanaged set of the elements of an array.
  ///
  /// - Throws: what the decoder throws.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd { insert(try container.decode(Element.self)) }
  }
}

extension Map: Encodable where Key: Encodable, Value: Encodable {
  /// As a dictionary.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(
      Dictionary(asKeyValueSequence().map { ($0.key._mapKey, $0.value) }) { first, _ in first })
  }
}

extension Map: Decodable where Key: Decodable, Value: Decodable {
  /// An unmanaged map of a dictionary. A key that has a `.` or begins with `$` is an error of what is decoded.
  ///
  /// - Throws: what the decoder throws; `DecodingError.dataCorrupted`.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    let container = try decoder.singleValueContainer()
    for (key, value) in try container.decode([String: Value].self) {
      guard Self.isKey(key) else {
        throw DecodingError.dataCorruptedError(
          in: container,
          debugDescription: "'\(key)' can't be a key of a map: it has a '.', or begins with '$'.")
      }
      updateValue(value, forKey: Key(_mapKey: key))
    }
  }
}
