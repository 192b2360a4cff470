import Foundation

extension JSONDecoder {
  /// The most objects and arrays that may stand in one another.
  private static let mostLevels = 500

  /// Decodes a text that somebody else has sent.
  ///
  /// Foundation of Swift 6 on Linux gives up at 512 levels, and stops the program where the text ends at the very bracket that is one too
  /// many. So a text of more than 500 levels is not given to it, and neither is one with a zero byte, as UTF-16 and UTF-32 have it:
  /// brackets are counted in UTF-8.
  ///
  /// - Throws: `DecodingError`.
  package static func decode<Value: Decodable>(_ type: Value.Type, fromOthers data: Data) throws -> Value {
    guard isShallow(data) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: [], debugDescription: "The text has more than \(mostLevels) levels, or is no UTF-8."))
    }
    return try JSONDecoder().decode(type, from: data)
  }

  package static func isShallow(_ data: Data) -> Bool {
    var (level, isInString, isEscaped) = (0, false, false)
    for byte in data {
      switch byte {
      case 0: return false
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = isInString
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        if !isInString { level += 1 }
        if level > mostLevels { return false }
      case UInt8(ascii: "]"), UInt8(ascii: "}"): if !isInString { level -= 1 }
      default: break
      }
    }
    return true
  }
}
