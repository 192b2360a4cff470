/// Checks that what a decoder accepts is the same after it is written and read again.
public enum RoundTrip {
  /// Checks a value that was accepted.
  ///
  /// - Parameters:
  ///   - bytes: the bytes of the accepted value, written again.
  ///   - again: the closure that reads the bytes, and writes the value that it has read.
  /// - Throws: `FuzzFailure` if the bytes are refused or mean another value.
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

  /// Checks a value whose form is a text. It does the same as the method for bytes.
  public static func check(_ text: String, _ again: (String) throws -> String) throws {
    try check(Array(text.utf8)) { Array(try again(String(decoding: $0, as: UTF8.self)).utf8) }
  }
}
