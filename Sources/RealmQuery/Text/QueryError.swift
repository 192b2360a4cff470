/// Why the text of a query can't be used.
///
/// `description` says it in words, shows the line of the text with a caret under the place, and adds what was expected
/// there and the word that was probably meant.
public struct QueryError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What sort of mistake it is.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The text does not follow the grammar of its language.
    case syntax = "Syntax error"
    /// The text follows the grammar, but says what no query can mean.
    case invalidQuery = "Invalid query"
    /// An argument is missing, or is of a kind that its place does not take.
    case invalidArgument = "Invalid query argument"
  }

  /// What sort of mistake it is.
  public let kind: Kind
  /// What is wrong, in one sentence without a full stop.
  public let message: String
  /// The place in the text, in UTF-8 code units. It is empty at the end of the text where something is missing there.
  public let range: Range<Int>
  /// What could have stood there; empty where the message says all.
  public let expected: [String]
  /// A word of the language that was probably meant; nil where none is near.
  public let suggestion: String?
  /// The line of the text, or a window of a long line; nil where no text was read.
  public let excerpt: Excerpt?

  /// A line of a text, and the place in it.
  public struct Excerpt: Sendable, Equatable {
    /// The line, or a part of it with `…` where it was cut off.
    public let line: String
    /// How many characters stand before the place.
    public let column: Int
    /// How many characters of the line the place has, at least 1.
    public let length: Int
  }

  /// Makes an error about a place of a text.
  ///
  /// - Parameters:
  ///   - text: the text that `range` means a place of.
  ///   - range: the place, in UTF-8 code units; it is cut to what the text has.
  public init(
    _ kind: Kind, _ message: String, range: SourceRange, in text: String, expected: [String] = [],
    suggestion: String? = nil
  ) {
    self.init(
      kind, message, range: range, in: SourceText(text), expected: expected, suggestion: suggestion)
  }

  init(
    _ kind: Kind, _ message: String, range: SourceRange, in source: SourceText?, expected: [String] = [],
    suggestion: String? = nil
  ) {
    self.kind = kind
    self.message = message
    let count = source?.bytes.count ?? 0
    let start = min(max(range.lowerBound, 0), count)
    self.range = start..<min(max(range.upperBound, start), count)
    self.expected = expected
    self.suggestion = suggestion
    excerpt = source?.excerpt(of: self.range)
  }

  public var description: String {
    var lines = ["\(kind.rawValue): \(message)."]
    if let excerpt {
      lines.append("  " + excerpt.line)
      let marks = "^" + String(repeating: "~", count: excerpt.length - 1)
      lines.append("  " + String(repeating: " ", count: excerpt.column) + marks)
    }
    if !expected.isEmpty { lines.append("Expected: \(expected.joined(separator: ", ")).") }
    if let suggestion { lines.append("Did you mean `\(suggestion)`?") }
    return lines.joined(separator: "\n")
  }
}

extension QueryError {
  /// A part of a text for a message, cut where it is long.
  static func shown(_ text: String) -> String {
    let start = text.unicodeScalars.prefix(31)
    return start.count <= 30 ? "`\(text)`" : "`\(String(start.dropLast()))…`"
  }
}
