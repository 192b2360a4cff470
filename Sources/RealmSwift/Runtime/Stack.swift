import CRealmPlatform

/// Stops code that follows links or nested values by calls before the stack is used up.
enum Stack {
  private static let reason =
    "The values are nested deeper than this thread's stack holds; use a thread with a larger stackSize."

  static var isShort: Bool { cp_stack_is_short() != 0 }

  /// - Throws: `EncodingError.invalidValue`.
  static func check(_ encoder: any Encoder) throws {
    guard isShort else { return }
    throw EncodingError.invalidValue(
      "…", EncodingError.Context(codingPath: Array(encoder.codingPath.suffix(8)), debugDescription: reason))
  }

  /// - Throws: `DecodingError.dataCorrupted`.
  static func check(_ decoder: any Decoder) throws {
    guard isShort else { return }
    throw DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: Array(decoder.codingPath.suffix(8)), debugDescription: reason))
  }

  /// Stops the program if the stack is nearly used up.
  static func check(_ what: String) {
    if isShort { raise("Nested too deep", "\(what): \(reason)") }
  }
}
