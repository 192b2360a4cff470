import ChartParts
import Foundation

/// Draws a chart of what `make sync-measure` printed. It compares each figure with its aim.
///
/// sync-chart < results/sync.txt > results/sync.svg
@main
struct SyncChart {
  struct Row {
    let name: String
    let figure: String
    let aim: String
    /// The figure divided by its aim. It reaches the aim at 1, and less is better.
    let part: Double
  }

  static func main() throws {
    var rows: [Row] = []
    while let line = readLine() {
      if let row = row(line) { rows.append(row) }
    }
    guard !rows.isEmpty else {
      FileHandle.standardError.write(Data("Usage: make sync-measure | sync-chart > sync.svg\n".utf8))
      exit(2)
    }
    print(chart(rows), terminator: "")
  }

  /// The row of a line; nil if the line has no figure.
  private static func row(_ line: String) -> Row? {
    var fields = line.components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
    fields.removeAll { $0.isEmpty }
    guard fields.count == 3, let figure = number(fields[1]), let aim = number(fields[2]), figure > 0, aim > 0
    else { return nil }
    let part = fields[2].hasPrefix("at least") ? aim / figure : figure / aim
    return Row(name: fields[0], figure: fields[1], aim: fields[2], part: part)
  }

  private static func number(_ text: String) -> Double? {
    text.split(separator: " ").compactMap { Double($0) }.first
  }

  /// A chart of bars on a logarithmic scale. Bars that end left of the line reach their aims.
  private static func chart(_ rows: [Row]) -> String {
    let (left, width, barHeight, top) = (470.0, 300.0, 22.0, 60.0)
    let (low, high) = (-2.0, 1.0)
    func x(_ part: Double) -> Double {
      left + width * (min(max(log10(part), low), high) - low) / (high - low)
    }
    let bottom = top + Double(rows.count) * barHeight
    var parts = [
      SVG.upright(x(1), from: top - 6, to: bottom, colour: "#0f766e")
        + SVG.text("the aim", x(1), top - 10, anchor: "middle", size: 10)
    ]
    for (place, row) in rows.enumerated() {
      let y = top + Double(place) * barHeight
      parts.append(SVG.text(row.name, left - 8, y + 14, anchor: "end", size: 11))
      parts.append(
        SVG.rectangle(
          left, y + 3, width: x(row.part) - left, height: 14, colour: row.part <= 1 ? "#0f766e" : "#c2410c"))
      parts.append(SVG.text("\(row.figure) (\(row.aim))", max(x(row.part), x(1)) + 6, y + 14, size: 10))
    }
    return SVG.page(
      "Device sync: each figure against its aim; shorter is better",
      width: left + width + 220, height: bottom + 10, parts)
  }
}
