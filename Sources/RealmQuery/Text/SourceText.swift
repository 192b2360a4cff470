/// The text of a query as bytes.
struct SourceText: Sendable {
  /// So many bytes at most a text may have.
  static let maximumCount = 1 << 20

  let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  /// - Throws: `QueryError` where the text is longer than `maximumCount`; its bytes are not looked at then.
  init(checking text: String) throws(QueryError) {
    guard text.utf8.count <= Self.maximumCount else {
      throw QueryError(
        .syntax, "The text has \(text.utf8.count) bytes, and a query may have \(Self.maximumCount)",
        range: .none, in: nil)
    }
    self.init(text)
  }

  /// The byte at an offset; 0 behind the end, which is no character of either language.
  subscript(offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

  func string(_ range: SourceRange) -> String {
    String(decoding: bytes[range.lowerBound..<range.upperBound], as: UTF8.self)
  }

  func syntaxError(
    _ message: String, at range: SourceRange, expected: [String] = [], suggestion: String? = nil
  ) -> QueryError {
    QueryError(.syntax, message, range: range, in: self, expected: expected, suggestion: suggestion)
  }

  /// So many bytes before and behind the start of a place an excerpt shows.
  private static let window = (before: 60, behind: 40)

  /// It looks at the bytes near the place only, however long the line is.
  func excerpt(of range: Range<Int>) -> QueryError.Excerpt {
    let place = range.lowerBound
    var start = place
    while start > 0, !isNewline(bytes[start - 1]), place - start < Self.window.before { start -= 1 }
    var end = place
    while end < bytes.count, !isNewline(bytes[end]), end - place < Self.window.behind { end += 1 }
    let isCutBefore = start > 0 && !isNewline(bytes[start - 1])
    let isCutBehind = end < bytes.count && !isNewline(bytes[end])
    // A window starts and ends between characters.
    while start < place, isContinuation(self[start]) { start += 1 }
    while end > place, end < bytes.count, isContinuation(bytes[end]) { end -= 1 }
    let before = shown(start..<place)
    let marked = shown(place..<min(max(range.upperBound, place), end))
    let line = (isCutBefore ? "…" : "") + shown(start..<end) + (isCutBehind ? "…" : "")
    return .init(
      line: line, column: before.count + (isCutBefore ? 1 : 0), length: max(marked.count, 1))
  }

  /// Some bytes as characters, each of one column.
  private func shown(_ range: Range<Int>) -> String {
    let scalars = String(decoding: bytes[range], as: UTF8.self).unicodeScalars.map { scalar in
      scalar.value < 0x20 || scalar.value == 0x7f ? " " : Character(scalar)
    }
    return String(scalars)
  }

  private func isNewline(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
  private func isContinuation(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }
}
