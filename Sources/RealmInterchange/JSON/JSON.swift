/// Constants and short texts of the JSON that this library writes.
///
/// JSON is written by hand, because the available encoders keep neither the order of members nor all bytes of a text.
package enum JSON {
  /// The greatest magnitude of integers that each reader reads exactly, including readers that know only doubles.
  package static let exactInteger = UInt64(1) << 53

  package static func string(_ text: String) -> String { made { $0.string(text) } }

  package static func integer(_ number: Int64) -> String { made { $0.integer(number) } }

  package static func integer(_ number: UInt64) -> String { made { $0.integer(number) } }

  /// An object with one member, whose name says what the text means.
  package static func tagged(_ tag: String, _ text: String) -> String { object([(tag, string(text))]) }

  /// An object.
  ///
  /// - Parameter members: the names, and the values as JSON.
  package static func object(_ members: [(name: String, value: String)]) -> String {
    "{" + members.map { "\(string($0.name)):\($0.value)" }.joined(separator: ",") + "}"
  }

  /// An array.
  ///
  /// - Parameter elements: the elements as JSON.
  package static func array(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }

  package static func bool(_ flag: Bool) -> String { flag ? "true" : "false" }

  /// A name for people, on one line and without characters that a terminal takes for commands.
  package static func shown(_ name: String) -> String {
    name.unicodeScalars.contains(where: mayMislead) ? String(string(name).dropFirst().dropLast()) : name
  }

  /// Bytes of a named tree: a string if they are text, otherwise an object with base64.
  package static func bytes(_ bytes: [UInt8]) -> String { made { $0.bytesOrText(bytes) } }

  /// The JSON that stands for a value that can't be read.
  package static let lost = object([("$lost", bool(true))])

  /// Whether a reader may take a character for something else than a character. Terminals take control characters for
  /// commands, characters of direction reverse the text beside them, some readers drop a byte order mark, and U+2028
  /// and U+2029 end a line for other readers.
  package static func mayMislead(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f...0x9f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: true
    default: false
    }
  }

  private static func made(_ write: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    write(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
