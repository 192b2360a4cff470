/// Writes JSON text. By hand, since the encoders at hand neither keep the order of members nor all bytes of a text.
enum JSON {
  /// Integers up to here are the same in every reader, also in those that know doubles only.
  private static let exactInteger = Int64(1) << 53

  static func string(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case "\r": quoted += "\\r"
      default:
        if isUnsafe(scalar) {
          quoted += "\\u" + hex(UInt64(scalar.value), digits: 4)
        } else {
          quoted.unicodeScalars.append(scalar)
        }
      }
    }
    return quoted + "\""
  }

  /// Terminals take control characters for commands, those of direction turn around what stands beside them, a byte order mark is dropped by some readers, and
  /// 2028 and 2029 end a line for others.
  static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f...0x9f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: true
    default: false
    }
  }

  static func integer(_ number: Int64) -> String {
    number.magnitude <= exactInteger.magnitude ? "\(number)" : tagged("$int", "\(number)")
  }

  static func integer(_ number: UInt64) -> String {
    number <= exactInteger.magnitude ? "\(number)" : tagged("$int", "\(number)")
  }

  /// An object of one member, which says what the text stands for.
  static func tagged(_ tag: String, _ text: String) -> String { object([(tag, string(text))]) }

  /// The values are JSON already.
  static func object(_ members: [(name: String, value: String)]) -> String {
    "{" + members.map { "\(string($0.name)):\($0.value)" }.joined(separator: ",") + "}"
  }

  static func array(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }

  static func bool(_ flag: Bool) -> String { flag ? "true" : "false" }

  static func hex(_ number: UInt64, digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
