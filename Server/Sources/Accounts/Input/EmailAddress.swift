import Foundation

/// An e-mail address in the form in which it is stored and compared.
package struct EmailAddress: Sendable, Equatable {
  /// The address without space around it, and with small letters for A to Z. The same characters always have the same
  /// bytes.
  package let text: String

  /// The greatest number of bytes of an address, because mail servers accept no longer ones.
  static let longest = 254
  /// Characters that have a meaning in the headers of mail, so that an address with one could name several
  /// recipients.
  private static let special = Set("()<>[]:;,\\\"".unicodeScalars)

  /// - Throws: `AccountError.Code.invalidParameter` for a text that is not an address. The message does not repeat the
  ///   text.
  package init(_ raw: String) throws {
    // The length is checked first, so that a text of any length costs little.
    guard raw.utf8.count <= 4 * Self.longest else { throw Self.refusal }
    let composed = raw.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
    let lowered = composed.utf8.map { byte in
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
    }
    let text = String(decoding: lowered, as: UTF8.self)
    guard text.utf8.count <= Self.longest, Self.isAddress(text) else { throw Self.refusal }
    self.text = text
  }

  private static let refusal = AccountError(
    .invalidParameter,
    "The e-mail address is not valid. Use one such as name@example.com, of 254 bytes at most.")

  /// Whether a text has one @ with something on both sides, and nothing that could change how a message is delivered.
  /// Only a confirmation shows whether the address exists.
  private static func isAddress(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, parts[0].utf8.count <= 64 else {
      return false
    }
    return text.unicodeScalars.allSatisfy { scalar in
      Texts.isVisible(scalar) && !scalar.properties.isWhitespace && !special.contains(scalar)
    }
  }
}
