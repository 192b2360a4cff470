/// What a decoder accepts is the same when it is written and read again.
public enum RoundTrip {
  /// Checks what was accepted.
  ///
  /// - Parameters:
  ///   - bytes: what was accepted, written again.
  ///   - again: reads the bytes, and writes what they say.
  /// - Throws: `FuzzFailure` where they are refused, or say something else.
  public static func check(_ bytes: [UInt8], _ again: ([UInt8]) throws -> [UInt8]) throws {
    let second: [UInt8]
    do {
      second = try again(bytes)
    } catch {
      throw FuzzFailure("what was accepted is refused when it is written again: \(error)")
    }
    guard second == bytes else {
      throw FuzzFailure("what was accepted is read as something else when it is written again")
    }
  }

  /// The same of what is a text.
  public static func check(_ text: String, _ again: (String) throws -> String) throws {
    try check(Array(text.utf8)) { Array(try again(String(decoding: $0, as: UTF8.self)).utf8) }
  }
}
