import Foundation
import RealmInterchange

/// The checks of texts from outside.
package enum Texts {
  /// The greatest number of characters of a name.
  static let longestName = 128

  /// Whether a text is an id of this server: 24 hexadecimal digits, with small letters.
  package static func isID(_ text: String) -> Bool {
    text.utf8.count == 24
      && text.utf8.allSatisfy { digit in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit)
      }
  }

  /// Whether a text may be the id of an app. Such a text needs no escapes in JSON.
  static func isAppID(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { scalar in
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "-", "_": true
        default: false
        }
      }
  }

  /// - Parameter thing: the thing that has the name, for the error.
  /// - Throws: `AccountError.Code.invalidParameter`.
  package static func checkName(_ name: String, of thing: String) throws {
    guard name.utf8.count <= 4 * longestName, (1...longestName).contains(name.unicodeScalars.count),
      name.unicodeScalars.allSatisfy(isVisible)
    else {
      throw AccountError(
        .invalidParameter,
        "The name of the \(thing) is not allowed. Use 1 to \(longestName) characters that can be seen.")
    }
  }

  /// Whether a character is neither a control character nor a character that changes how others are shown.
  package static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
    default: true
    }
  }

  /// The beginning of a text that comes from outside, with dots in place of what can't be shown, for an error.
  package static func printable(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(64) { shown.append(isVisible(scalar) ? scalar : ".") }
    return String(shown)
  }

  /// Checks the text of custom data, which is put into tokens as it is.
  ///
  /// - Throws: `AccountError.Code.invalidParameter` for a text that is not a JSON object, or is too long.
  package static func checkObject(_ json: String) throws {
    guard json.utf8.count <= Accounts.Bounds.customData else {
      throw AccountError(
        .invalidParameter, "The custom data is too long. It may have \(Accounts.Bounds.customData) bytes.")
    }
    // A parser may accept a byte order mark, which must not be in a token.
    let space = Set(" \t\r\n".utf8)
    let first = json.utf8.first { !space.contains($0) }
    let last = json.utf8.last { !space.contains($0) }
    // Parsers have a limit of depth, and the data is deeper inside a token, so it is parsed within two lists.
    guard first == UInt8(ascii: "{"), last == UInt8(ascii: "}"), parsed(json) is [String: Any],
      parsed("[[\(json)]]") != nil
    else {
      throw AccountError(.invalidParameter, "The custom data is not valid. Give the text of a JSON object.")
    }
  }

  private static func parsed(_ json: String) -> Any? {
    let data = Data(json.utf8)
    return JSONDecoder.isShallow(data) ? try? JSONSerialization.jsonObject(with: data) : nil
  }
}
