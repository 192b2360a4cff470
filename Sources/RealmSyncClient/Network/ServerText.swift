/// What a server says for people, as logs and errors show it: the server may say anything.
package enum ServerText {
  /// So many characters are shown.
  package static let most = 1000

  /// A text with spaces in place of what moves the cursor or changes the direction of writing, cut where it is long.
  ///
  /// - Parameter most: so many characters of Unicode it has at most.
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
