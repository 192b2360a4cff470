/// Appends JSON to an array of bytes. It makes no string for each part, because a dump of a million rows has some ten
/// million parts.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Removes what was written, and keeps the memory for more.
  package mutating func clear() { bytes.removeAll(keepingCapacity: true) }

  /// Appends text that is JSON already.
  package mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  package mutating func raw(_ text: [UInt8]) { bytes.append(contentsOf: text) }

  package mutating func null() { raw("null") }

  package mutating func bool(_ flag: Bool) { if flag { raw("true") } else { raw("false") } }

  /// Appends a number. If a reader that knows only doubles would change it, it is written as `{"$int": "…"}`.
  package mutating func integer(_ number: Int64) {
    if number.magnitude <= JSON.exactInteger { return plain(number) }
    raw(#"{"$int":""#)
    plain(number)
    raw(#""}"#)
  }

  /// Appends a number. If a reader that knows only doubles would change it, it is written as `{"$int": "…"}`.
  package mutating func integer(_ number: UInt64) {
    if number <= JSON.exactInteger { return digits(number) }
    raw(#"{"$int":""#)
    digits(number)
    raw(#""}"#)
  }

  package mutating func plain(_ number: Int64) {
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    digits(number.magnitude)
  }

  private mutating func digits(_ number: UInt64) {
    if number < 10 { return bytes.append(UInt8(ascii: "0") + UInt8(number)) }
    var rest = number
    let start = bytes.count
    while rest > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    }
    bytes[start...].reverse()
  }

  // MARK: - Texts

  /// Appends a text as a JSON string.
  package mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    if text.utf8.contains(where: Self.mayBeginEscape) {
      for scalar in text.unicodeScalars { append(scalar) }
    } else {
      bytes.append(contentsOf: text.utf8)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Whether a character that must be escaped may begin with a byte. If the character has two bytes, the first one is
  /// c2; if it has three, the first one is e2 or ef.
  private static func mayBeginEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == 0x22 || byte == 0x5c || byte == 0x7f || byte == 0xc2 || byte == 0xe2
      || byte == 0xef
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"", "\\": raw("\\\(scalar)")
    case "\n": raw(#"\n"#)
    case "\t": raw(#"\t"#)
    case "\r": raw(#"\r"#)
    case _ where JSON.mayMislead(scalar):
      raw(#"\u"#)
      raw(Hexadecimal.text(UInt64(scalar.value), digits: 4))
    default: bytes.append(contentsOf: UTF8.encode(scalar)!)
    }
  }

  /// Appends an object with one member, whose name says what the text means.
  ///
  /// - Parameters:
  ///   - tag: the name of the member, without characters that must be escaped.
  ///   - text: the value, without characters that must be escaped.
  package mutating func tagged(_ tag: String, _ text: String) {
    raw(#"{""#)
    raw(tag)
    raw(#"":""#)
    raw(text)
    raw(#""}"#)
  }

  /// Appends bytes of a named tree: a string if they are text, otherwise an object with base64.
  package mutating func bytesOrText(_ bytes: [UInt8]) {
    if let text = String(validating: bytes, as: UTF8.self) { return string(text) }
    tagged("$data", Base64.text(bytes))
  }
}
