import Foundation

/// A password that may be set or checked. No message contains its text.
package struct Password: Sendable, CustomStringConvertible {
  /// The text of the password. The same characters always have the same bytes, whatever device they were typed on.
  package let text: String

  /// The numbers of characters that a password may have.
  static let lengths = 6...128

  /// - Throws: `AccountError.Code.invalidParameter` for a password that is too short or too long.
  package init(_ raw: String) throws {
    // A character is a Unicode scalar here, of 4 bytes at most. The composed text below has at most three times the
    // bytes.
    guard raw.utf8.count <= 12 * Self.lengths.upperBound else { throw Self.refusal }
    text = raw.precomposedStringWithCanonicalMapping
    guard Self.lengths.contains(text.unicodeScalars.count) else { throw Self.refusal }
  }

  private static let refusal = AccountError(
    .invalidParameter, "The password is not allowed. Choose one of 6 to 128 characters.")

  package var description: String { "a password" }
}
