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
  /// As a dictionary, to which equivalent texts are one key, as "é" in one character and in two: a map that has both is not
  /// encoded.
  ///
  /// - Throws: `EncodingError.invalidValue` for such keys; what the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    var values: [String: Value] = [:]
    for (key, value) in asKeyValueSequence() where values.updateValue(value, forKey: key._mapKey) != nil {
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription:
            "two keys of the map are equivalent texts, '\(key._mapKey)', and one in what is encoded; "
            + "encode the map's entries as an array."))
    }
    try container.encode(values)
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
