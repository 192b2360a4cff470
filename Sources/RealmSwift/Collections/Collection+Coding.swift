extension RealmCollection where Element: Encodable {
  /// Encodes the collection as an array of its elements. An element for which an enumeration has no case is encoded as its
  /// raw value.
  ///
  /// - Throws: what the encoder throws; `EncodingError.invalidValue` if the values are nested deeper than the thread's stack
  ///   holds.
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
  /// Makes an unmanaged list of the elements of an encoded array.
  ///
  /// - Throws: what the decoder throws; `DecodingError.dataCorrupted` if the values are nested deeper than the thread's stack
  ///   holds.
  public convenience init(from decoder: any Decoder) throws {
    try Stack.check(decoder)
    self.init()
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd { append(try container.decode(Element.self)) }
  }
}

extension MutableSet: Decodable where Element: Decodable {
  /// Makes an unmanaged set of the elements of an encoded array.
  ///
  /// - Throws: what the decoder throws; `DecodingError.dataCorrupted` if the values are nested deeper than the thread's stack
  ///   holds.
  public convenience init(from decoder: any Decoder) throws {
    try Stack.check(decoder)
    self.init()
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd { insert(try container.decode(Element.self)) }
  }
}

extension Map: Encodable where Key: Encodable, Value: Encodable {
  /// Encodes the map as a dictionary. In a dictionary, texts that are canonically equivalent are one key, such as "é" as one
  /// character and as two. A map that has two such keys is not encoded.
  ///
  /// - Throws: what the encoder throws; `EncodingError.invalidValue` if two keys are equivalent, or the values are nested
  ///   deeper than the thread's stack holds.
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
  /// Makes an unmanaged map of an encoded dictionary.
  ///
  /// - Throws: what the decoder throws; `DecodingError.dataCorrupted` if a key contains a `.` or begins with `$`, or the
  ///   values are nested deeper than the thread's stack holds.
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

/// A coding key of any text.
private struct TextKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
