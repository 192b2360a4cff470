package import RealmStorage

/// Writes values in the form that docs/dump-format.md describes, which keeps every bit.
extension JSONWriter {
  package mutating func value(_ value: Value, of column: Column, _ names: TableNames) {
    switch value {
    case .list(let elements, _) where column.isCollection:
      list(elements) { $0.value($1, ofOne: column.type, names) }
    case .map(let map, _) where column.isCollection: self.map(map) { $0.value($1, ofOne: column.type, names) }
    default: self.value(value, ofOne: column.type, names)
    }
  }

  /// Appends a value that is not a collection, or an element of a collection, of a type.
  package mutating func value(_ value: Value, ofOne type: ColumnType, _ names: TableNames) {
    if type == .mixed { mixed(value, names) } else { single(value) }
  }

  /// Appends a value of any type. If JSON does not show the type of the value, the value has a tag.
  package mutating func mixed(_ value: Value, _ names: TableNames) {
    switch value {
    case .int(let number):
      raw(#"{"$int":""#)
      plain(number)
      raw(#""}"#)
    case .float(let number): tagged("$float", number.special ?? "\(Double(number))")
    case .double(let number): tagged("$double", number.special ?? "\(number)")
    case .typedLink(let table, let key):
      raw(#"{"$link":["#)
      if let name = names[table] { string(name) } else { null() }
      raw(",")
      integer(key)
      raw("]}")
    case .list(let elements, _): list(elements) { $0.mixed($1, names) }
    case .map(let map, _):
      raw(#"{"$map":"#)
      self.map(map) { $0.mixed($1, names) }
      raw("}")
    default: single(value)
    }
  }

  /// Appends a value that is neither a list, a map, nor a link that names its table. Such values become null.
  package mutating func single(_ value: Value) {
    switch value {
    case .null: null()
    case .bool(let flag): bool(flag)
    case .int(let number): integer(number)
    case .float(let number):
      // The number is written as the double that equals it, so that readers that round to a double first get the same
      // float.
      if let special = number.special { tagged("$float", special) } else { raw("\(Double(number))") }
    case .double(let number):
      if let special = number.special { tagged("$double", special) } else { raw("\(number)") }
    case .string(let text): string(text)
    case .data(let bytes): tagged("$data", Base64.text(bytes))
    case .date(let date):
      raw(#"{"$date":["#)
      integer(date.seconds)
      raw(",\(date.nanoseconds)]}")
    case .objectID(let id): tagged("$objectID", Hexadecimal.text(id.bytes))
    case .uuid(let id): tagged("$uuid", UUIDText.text(id.bytes))
    case .decimal128(let id): tagged("$decimal128", Hexadecimal.text(id.bytes))
    case .link(let key):
      raw(#"{"$link":"#)
      integer(key)
      raw("}")
    case .typedLink, .list, .map: null()
    }
  }

  package mutating func list(_ elements: [Value], _ write: (inout JSONWriter, Value) -> Void) {
    raw("[")
    for (position, element) in elements.enumerated() {
      if position > 0 { raw(",") }
      write(&self, element)
    }
    raw("]")
  }

  /// Appends a map as an array of pairs of a key and a value.
  private mutating func map(_ map: ValueMap, _ write: (inout JSONWriter, Value) -> Void) {
    raw("[")
    for (position, entry) in zip(map.keys, map.values).enumerated() {
      raw(position > 0 ? ",[" : "[")
      string(entry.0)
      raw(",")
      write(&self, entry.1)
      raw("]")
    }
    raw("]")
  }
}

extension Value {
  /// The value of a column in the form that docs/dump-format.md describes.
  package func json(of column: Column, _ names: TableNames) -> String {
    var writer = JSONWriter()
    writer.value(self, of: column, names)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// The same form of a value that is not a collection, or of an element of a collection, of a type.
  package func json(ofOne type: ColumnType, _ names: TableNames) -> String {
    var writer = JSONWriter()
    writer.value(self, ofOne: type, names)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension Float {
  /// The text of a number that JSON can't express; nil for other numbers. For a NaN, the text has all its bits, because
  /// there are many NaNs.
  package var special: String? {
    isNaN ? "NaN:" + Hexadecimal.text(UInt64(bitPattern), digits: 8) : Double(self).special
  }
}

extension Double {
  /// The text of a number that JSON can't express; nil for other numbers.
  package var special: String? {
    switch floatingPointClass {
    case .positiveInfinity: "Infinity"
    case .negativeInfinity: "-Infinity"
    case .negativeZero: "-0.0"
    case .quietNaN, .signalingNaN: "NaN:" + Hexadecimal.text(bitPattern, digits: 16)
    default: nil
    }
  }
}
