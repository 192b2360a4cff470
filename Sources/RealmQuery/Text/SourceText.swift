/// The text of a query as bytes.
struct SourceText: Sendable {
  /// The most bytes that the text of a query may have.
  static let maximumCount = 1 << 20

  let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Takes the bytes of a text if there are not too many.
  ///
  /// - Throws: `QueryError` if the text has more than `maximumCount` bytes. The bytes are not copied then.
  init(checking text: String) throws(QueryError) {
    guard text.utf8.count <= Self.maximumCount else {
      throw QueryError(
        .syntax, "The text has \(text.utf8.count) bytes, and a query may have \(Self.maximumCount)",
        range: .none, in: nil)
    }
    self.init(text)
  }

  /// The byte at an offset; 0 behind the end of the text, because no character of either language is 0.
  subscript(offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

  func string(_ range: SourceRange) -> String {
    String(decoding: bytes[range.lowerBound..<range.upperBound], as: UTF8.self)
  }

  func syntaxError(
    _ message: String, at range: SourceRange, expected: [String] = [], suggestion: String? = nil
  ) -> QueryError {
    QueryError(.syntax, message, range: range, in: self, expected: expected, suggestion: suggestion)
  }

  /// The most bytes that an excerpt shows before and behind the start of a place.
  private static let window = (before: 60, behind: 40)

  /// The line with a place. Only the bytes near the place are read, however long the line is.
  func excerpt(of range: Range<Int>) -> QueryError.Excerpt {
    let place = range.lowerBound
    var start = place
    while start > 0, !isNewline(bytes[start - 1]), place - start < Self.window.before { start -= 1 }
    var end = place
    while end < bytes.count, !isNewline(bytes[end]), end - place < Self.window.behind { end += 1 }
    let isCutBefore = start > 0 && !isNewline(bytes[start - 1])
    let isCutBehind = end < bytes.count && !isNewline(bytes[end])
    // The excerpt is cut between characters, and not inside one.
    while start < place, isContinuation(self[start]) { start += 1 }
    while end > place, end < bytes.count, isContinuation(bytes[end]) { end -= 1 }
    let before = shown(start..<place)
    let marked = shown(place..<min(max(range.upperBound, place), end))
    let line = (isCutBefore ? "…" : "") + shown(start..<end) + (isCutBehind ? "…" : "")
    return .init(
      line: line, column: before.count + (isCutBefore ? 1 : 0), length: max(marked.count, 1))
  }

  /// A part of the text as characters of one column each. Control characters become spaces.
  private func shown(_ range: Range<Int>) -> String {
    let scalars = String(decoding: bytes[range], as: UTF8.self).unicodeScalars.map { scalar in
      scalar.value < 0x20 || scalar.value == 0x7f ? " " : Character(scalar)
    }
    return String(scalars)
  }

  private func isNewline(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
  private func isContinuation(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }
}
