import Foundation

/// A password that may be set or checked. Its text gets into no message.
package struct Password: Sendable, CustomStringConvertible {
  /// The same characters always have the same bytes, whatever the device that they were typed on.
  package let text: String

  /// How many characters a password may have.
  static let lengths = 6...128

  /// - Throws: `AccountError.Code.invalidParameter` for a password that is too short or too long.
  package init(_ raw: String) throws {
    // A character is a Unicode scalar here, of 4 bytes at most. What is composed below has no more than three
    // times the bytes.
    guard raw.utf8.count <= 12 * Self.lengths.upperBound else { throw Self.refusal }
    text = raw.precomposedStringWithCanonicalMapping
    guard Self.lengths.contains(text.unicodeScalars.count) else { throw Self.refusal }
  }

  private static let refusal = AccountError(
    .invalidParameter, "The password is not allowed. Choose one of 6 to 128 characters.")

  package var description: String { "a password" }
}
