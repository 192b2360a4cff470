import Foundation

/// The parts of charts as SVG elements.
package enum SVG {
  package static func text(
    _ content: String, _ x: Double, _ y: Double, anchor: String = "start", size: Int = 12
  ) -> String {
    let escaped = content.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(
      of: "<", with: "&lt;"
    ).replacingOccurrences(of: ">", with: "&gt;")
    return """
      <text x="\(number(x))" y="\(number(y))" text-anchor="\(anchor)" font-size="\(size)" \
      fill="#1e293b">\(escaped)</text>
      """
  }

  package static func rectangle(
    _ x: Double, _ y: Double, width: Double, height: Double, colour: String
  ) -> String {
    """
    <rect x="\(number(x))" y="\(number(y))" width="\(number(width))" \
    height="\(number(height))" fill="\(colour)"/>
    """
  }

  package static func upright(_ x: Double, from top: Double, to bottom: Double, colour: String) -> String {
    """
    <line x1="\(number(x))" y1="\(number(top))" x2="\(number(x))" y2="\(number(bottom))" stroke="\(colour)"/>
    """
  }

  /// A page with a title on a white background.
  package static func page(
    _ title: String, width: Double, height: Double, _ parts: [String]
  ) -> String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="\(number(width))" height="\(number(height))" \
    font-family="system-ui, sans-serif">
    <rect width="100%" height="100%" fill="white"/>
    \(text(title, 12, 20, size: 14))
    \(parts.joined(separator: "\n"))
    </svg>

    """
  }

  /// The number with as many digits as a chart has room for.
  package static func number(_ value: Double) -> String {
    value == value.rounded() ? "\(Int(value))" : String(format: value < 1 ? "%.2g" : "%.1f", value)
  }
}
