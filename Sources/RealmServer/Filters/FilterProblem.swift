import RealmQuery

/// Why a filter can't be made from a text: the code and the text of the message "Query set refused"
/// (docs/sync-protocol.md).
package struct FilterProblem: Error, Sendable, Equatable {
  package enum Code {
    /// The predicate can't be read, or does not fit the class.
    package static let unreadable: UInt32 = 201
    /// A property may not be used in queries.
    package static let propertyNotAllowed: UInt32 = 203
    /// The predicate is too long, or too slow to answer.
    package static let tooLong: UInt32 = 205
  }

  /// The greatest size of `text` in bytes.
  package static let mostBytes = 1000

  package let code: UInt32
  /// What is wrong and what to do, for people.
  package let text: String

  /// - Parameter text: the text for people. It is cut if it has more than `mostBytes` bytes.
  package init(code: UInt32, text: String) {
    self.code = code
    self.text = Self.cut(text, to: Self.mostBytes)
  }

  /// A problem with a part of a predicate, which the text shows.
  init(_ code: UInt32 = Code.unreadable, _ message: String, at range: SourceRange, in source: [UInt8]) {
    let start = min(max(range.lowerBound, 0), source.count)
    let end = min(max(range.upperBound, start), source.count)
    let part = String(decoding: source[start..<end].prefix(400), as: UTF8.self)
    self.init(code: code, text: part.isEmpty ? message : "\(message). It is about: \(Self.shown(part))")
  }

  /// A name or a part of a text as a message shows it. It is cut if it is long.
  static func shown(_ text: String) -> String { "`\(cut(text, to: 120))`" }

  private static func cut(_ text: String, to count: Int) -> String {
    guard text.utf8.count > count else { return text }
    let mark = "…"
    var scalars = String.UnicodeScalarView()
    var size = mark.utf8.count
    for scalar in text.unicodeScalars {
      size += UTF8.width(scalar)
      guard size <= count else { break }
      scalars.append(scalar)
    }
    return String(scalars) + mark
  }
}
