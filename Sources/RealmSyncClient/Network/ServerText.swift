/// Makes the texts of a server readable for logs and errors, because a server may send any text.
package enum ServerText {
  /// The greatest number of characters that are shown.
  package static let most = 1000

  /// The text with spaces in place of characters that move the cursor or change the direction of writing. A long text
  /// is cut.
  ///
  /// - Parameter most: the greatest number of Unicode characters of the result.
  package static func readable(_ text: String, most: Int = ServerText.most) -> String {
    var shown = String.UnicodeScalarView()
    for (count, scalar) in text.unicodeScalars.enumerated() {
      guard count < most else {
        shown.removeLast()
        shown.append("…" as Unicode.Scalar)
        break
      }
      shown.append(isShown(scalar) ? scalar : " " as Unicode.Scalar)
    }
    return String(shown)
  }

  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}
