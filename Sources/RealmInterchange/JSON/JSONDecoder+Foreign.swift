public import Foundation

extension JSONDecoder {
  /// The deepest nesting of objects and arrays that is decoded.
  private static let mostLevels = 500

  /// Decodes a text that comes from another program.
  ///
  /// Foundation of Swift 6 on Linux accepts at most 512 levels, and stops the program if the text ends exactly at the
  /// first bracket beyond them. So this function does not pass a text of more than 500 levels to Foundation. It also
  /// refuses a text with a zero byte, because that may be UTF-16 or UTF-32, and brackets are counted in UTF-8.
  ///
  /// - Throws: `DecodingError`.
  public static func decode<Value: Decodable>(_ type: Value.Type, fromOthers data: Data) throws -> Value {
    guard isShallow(data) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: [], debugDescription: "The text has more than \(mostLevels) levels, or is no UTF-8."))
    }
    return try JSONDecoder().decode(type, from: data)
  }

  /// Whether a JSON text has so few levels that Foundation's parsers can safely read it.
  public static func isShallow(_ data: Data) -> Bool {
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
