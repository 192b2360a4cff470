extension RealmCollection where Element: Encodable {
  /// As an array of its elements: of an enumeration without such a case, the raw value.
  public func encode(to encoder: any Encoder) throws {
    try Stack.check(encoder)
    var container = encoder.unkeyedContainer()
    guard Element._mayBeUnknown, let elements = self as? any MayHoldUnknown else {
      for element in self { try container.encode(element) }
      return
    }
    for index in indices {
      if let unknown = elements.unknownElement(at: index) {
        try unknown.encodePlain(to: container.superEncoder())
      } else {
        try container.encode(self[index])
      }
    }
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
    try Stack.check(decoder)
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
    try Stack.check(decoder)
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
    try Stack.check(encoder)
    try checkKeys(encoder)
    guard Value._mayBeUnknown else {
      var container = encoder.singleValueContainer()
      return try container.encode(
        Dictionary(asKeyValueSequence().map { ($0.key._mapKey, $0.value) }) { first, _ in first })
    }
    var container = encoder.container(keyedBy: TextKey.self)
    for (key, any) in anyEntries {
      if let unknown = any as? UnknownElement {
        try unknown.value.encodePlain(to: container.superEncoder(forKey: TextKey(stringValue: key)))
      } else if let value = any as? Value {
        try container.encode(value, forKey: TextKey(stringValue: key))
      }
    }
  }

  private func checkKeys(_ encoder: any Encoder) throws {
    var seen = Set<String>()
    for key in keys where !seen.insert(key._mapKey).inserted {
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription:
            "two keys of the map are equivalent texts, '\(key._mapKey)', and one in what is encoded; "
            + "encode the map's entries as an array."))
    }
  }
}

extension Map: Decodable where Key: Decodable, Value: Decodable {
  /// An unmanaged map of a dictionary. A key that has a `.` or begins with `$` is an error of what is decoded.
  ///
  /// - Throws: what the decoder throws; `DecodingError.dataCorrupted`.
  public convenience init(from decoder: any Decoder) throws {
    try Stack.check(decoder)
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

/// Any key.
private struct TextKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
