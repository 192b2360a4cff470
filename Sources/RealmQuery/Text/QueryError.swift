/// An error in the text of a query.
///
/// `description` describes it in words, shows the line of the text with a mark under the place, and adds what was
/// expected there and the word that was probably meant.
public struct QueryError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of a mistake. The raw values are titles for messages.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The text does not follow the grammar of its language.
    case syntax = "Syntax error"
    /// The text follows the grammar, but says something that no query can mean.
    case invalidQuery = "Invalid query"
    /// An argument is missing, or has a kind that does not fit its place.
    case invalidArgument = "Invalid query argument"
  }

  /// The kind of the mistake.
  public let kind: Kind
  /// What is wrong, in one sentence without a full stop.
  public let message: String
  /// The place in the text, in UTF-8 code units. It is empty, at the end of the text, if something is missing there.
  public let range: Range<Int>
  /// What could stand at the place; empty if the message says everything.
  public let expected: [String]
  /// A word of the language that was probably meant; nil if no word is similar.
  public let suggestion: String?
  /// The line of the text, or a part of a long line; nil if there is no text.
  public let excerpt: Excerpt?

  /// A line of a text, with the place of an error in it.
  public struct Excerpt: Sendable, Equatable {
    /// The line, or a part of it with `…` where it is cut off.
    public let line: String
    /// The number of characters before the place.
    public let column: Int
    /// The number of characters of the place in the line, at least 1.
    public let length: Int
  }

  /// Makes an error about a place in a text.
  ///
  /// - Parameters:
  ///   - kind: the kind of the mistake.
  ///   - message: what is wrong, in one sentence without a full stop.
  ///   - range: the place in `text`, in UTF-8 code units. It is cut off at the end of the text.
  ///   - text: the text.
  ///   - expected: what could stand at the place.
  ///   - suggestion: the word that was probably meant; nil for none.
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

  /// The mistake in words, with the line of the text, a mark under the place, what was expected, and the suggestion.
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
  /// A part of a text for a message, cut off if it is long.
  static func shown(_ text: String) -> String {
    let start = text.unicodeScalars.prefix(31)
    return start.count <= 30 ? "`\(text)`" : "`\(String(start.dropLast()))…`"
  }
}
