/// Facts of the JSON that this library writes, and small texts of it.
///
/// The text is written by hand, because the encoders at hand keep neither the order of members nor all bytes of a text.
package enum JSON {
  /// Integers up to here are the same in every reader, also in those that know doubles only.
  package static let exactInteger = UInt64(1) << 53

  package static func string(_ text: String) -> String { made { $0.string(text) } }

  package static func integer(_ number: Int64) -> String { made { $0.integer(number) } }

  package static func integer(_ number: UInt64) -> String { made { $0.integer(number) } }

  /// An object of one member, which says what the text stands for.
  package static func tagged(_ tag: String, _ text: String) -> String { object([(tag, string(text))]) }

  /// - Parameter members: names, and values that are JSON already.
  package static func object(_ members: [(name: String, value: String)]) -> String {
    "{" + members.map { "\(string($0.name)):\($0.value)" }.joined(separator: ",") + "}"
  }

  /// - Parameter elements: JSON already.
  package static func array(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }

  package static func bool(_ flag: Bool) -> String { flag ? "true" : "false" }

  /// A name for people: without what a terminal takes for commands, and on one line.
  package static func shown(_ name: String) -> String {
    name.unicodeScalars.contains(where: mayMislead) ? String(string(name).dropFirst().dropLast()) : name
  }

  /// Bytes of a named tree: a string if they are text, and else base64 in an object.
  package static func bytes(_ bytes: [UInt8]) -> String { made { $0.bytesOrText(bytes) } }

  /// A value that can't be read.
  package static let lost = object([("$lost", bool(true))])

  /// Whether a reader may take a character for something else than a character. Terminals take control characters for commands, characters of
  /// direction turn around what stands beside them, some readers drop a byte order mark, and 2028 and 2029 end a line for others.
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
