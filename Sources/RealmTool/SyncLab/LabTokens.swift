import RealmInterchange
import RealmStorage

/// A token of a command line.
enum LabToken: Equatable {
  /// A name or a word of the lab: ASCII letters, digits and `_`. It does not begin with a digit.
  case word(String)
  case text(String)
  case number(Value)
  /// One of `{ } [ ] : , =`.
  case mark(Unicode.Scalar)

  /// The form of the token in messages.
  var shown: String {
    switch self {
    case .word(let word): "'\(word)'"
    case .text(let text): JSON.string(text)
    case .number(let value): value.text
    case .mark(let mark): "'\(mark)'"
    }
  }
}

/// Cuts a line into tokens. A `#` outside of a text begins a comment, which goes to the end of the line.
struct LabTokenReader {
  private let scalars: [Unicode.Scalar]
  private var at = 0

  private init(_ line: String) { scalars = Array(line.unicodeScalars) }

  static func tokens(of line: String) throws(LabProblem) -> [LabToken] {
    var reader = LabTokenReader(line)
    var tokens: [LabToken] = []
    while let token = try reader.next() { tokens.append(token) }
    return tokens
  }

  private var first: Unicode.Scalar? { at < scalars.count ? scalars[at] : nil }

  private static let blanks: Set<Unicode.Scalar> = [" ", "\t", "\r"]
  private static let marks: Set<Unicode.Scalar> = ["{", "}", "[", "]", ":", ",", "="]

  static func beginsWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII && (scalar.properties.isAlphabetic || scalar == "_")
  }

  static func isInWord(_ scalar: Unicode.Scalar) -> Bool { beginsWord(scalar) || isDigit(scalar) }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  private mutating func next() throws(LabProblem) -> LabToken? {
    while let scalar = first, Self.blanks.contains(scalar) { at += 1 }
    guard let scalar = first, scalar != "#" else { return nil }
    if Self.marks.contains(scalar) {
      at += 1
      return .mark(scalar)
    }
    if scalar == "\"" { return .text(try text()) }
    if Self.beginsWord(scalar) { return .word(take(while: Self.isInWord)) }
    if Self.isDigit(scalar) || scalar == "-" || scalar == "+" { return try number() }
    throw LabProblem(
      "The character \(JSON.string(String(scalar))) has no meaning here.",
      "Put texts and predicates into quotation marks, as in \"Buy milk\".")
  }

  private mutating func take(while isIn: (Unicode.Scalar) -> Bool) -> String {
    var taken = String.UnicodeScalarView()
    while let scalar = first, isIn(scalar) {
      taken.append(scalar)
      at += 1
    }
    return String(taken)
  }

  private mutating func number() throws(LabProblem) -> LabToken {
    let text = take { Self.isInWord($0) || $0 == "." || $0 == "-" || $0 == "+" }
    if let number = Int64(text) { return .number(.int(number)) }
    let isWhole = text.unicodeScalars.allSatisfy { Self.isDigit($0) || $0 == "-" || $0 == "+" }
    if isWhole {
      throw LabProblem(
        "\(text) is no whole number of 64 bits.", "Write a smaller number, or a text in quotation marks.")
    }
    // Swift also reads hexadecimal digits, "nan" and "inf" as numbers. The lab does not.
    let isDecimal = text.unicodeScalars.allSatisfy {
      Self.isDigit($0) || ["-", "+", ".", "e", "E"].contains($0)
    }
    guard isDecimal, let number = Double(text), number.isFinite else {
      throw LabProblem("\(text) is no number.", "Write one as 12, -3 or 1.5, or a text in quotation marks.")
    }
    return .number(.double(number))
  }

  private mutating func text() throws(LabProblem) -> String {
    at += 1
    var read = String.UnicodeScalarView()
    while let scalar = first {
      at += 1
      switch scalar {
      case "\"": return String(read)
      case "\\": read.append(try escaped())
      default: read.append(scalar)
      }
    }
    throw LabProblem("A text has no end.", "Put a quotation mark behind it; one within a text is \\\".")
  }

  private mutating func escaped() throws(LabProblem) -> Unicode.Scalar {
    let scalar = first
    at += 1
    switch scalar {
    case "\"", "\\": return scalar ?? "\\"
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "u":
      if first == "{" {
        at += 1
        let digits = take { $0 != "}" && $0 != "\"" }
        if first == "}", digits.unicodeScalars.count <= 6, let code = UInt32(digits, radix: 16),
          let named = Unicode.Scalar(code)
        {
          at += 1
          return named
        }
      }
    default: break
    }
    throw LabProblem(
      "A text has a \\ that means nothing.", "The lab knows \\\" and \\\\, \\n, \\t, \\r and \\u{1F600}.")
  }
}
