import ChartParts
import Foundation

/// A chart of bars for one group of workloads. The bars show how many times as fast, or as small, as SQLite each engine
/// is, on a logarithmic scale. The chart is an SVG for a page that shows the figures.
struct Chart {
  struct Row {
    let label: String
    /// The factor by which each engine was better than SQLite.
    let bars: [(engine: String, factor: Double)]
  }

  let title: String
  let rows: [Row]
  let engines: [(label: String, colour: String)]

  private static let (labelWidth, plotWidth, textWidth) = (250.0, 520.0, 90.0)
  private static let (barHeight, gap, top) = (11.0, 9.0, 58.0)

  var svg: String {
    let (low, high) = range
    func x(_ factor: Double) -> Double {
      Self.labelWidth + Self.plotWidth * (log10(factor) - low) / (high - low)
    }
    var body: [String] = []
    var y = Self.top
    for row in rows {
      let middle = y + Double(row.bars.count) * Self.barHeight / 2
      body.append(SVG.text(row.label, Self.labelWidth - 8, middle + 4, anchor: "end"))
      for bar in row.bars {
        let (start, end) = (min(x(1), x(bar.factor)), max(x(1), x(bar.factor)))
        let colour = engines.first { $0.label == bar.engine }?.colour ?? "black"
        body.append(
          SVG.rectangle(
            start, y, width: max(end - start, 1), height: Self.barHeight - 2, colour: colour))
        body.append(SVG.text(Report.number(bar.factor) + "×", end + 4, y + Self.barHeight - 3, size: 9))
        y += Self.barHeight
      }
      y += Self.gap
    }
    let ticks = stride(from: low, through: high, by: 1).map { power in
      let place = x(pow(10, power))
      let line = SVG.upright(
        place, from: Self.top - 6, to: y, colour: power == 0 ? "#334155" : "#e2e8f0")
      return line
        + SVG.text("\(SVG.number(pow(10, power)))×", place, Self.top - 10, anchor: "middle", size: 10)
    }
    let width = Self.labelWidth + Self.plotWidth + Self.textWidth
    return SVG.page(title, width: width, height: y + 8, [legend] + ticks + body)
  }

  /// The whole powers of ten around all bars.
  private var range: (low: Double, high: Double) {
    let powers = rows.flatMap { $0.bars.map { log10($0.factor) } }
    return (min((powers.min() ?? 0).rounded(.down), -1), max((powers.max() ?? 0).rounded(.up), 1))
  }

  private var legend: String {
    var x = Self.labelWidth
    return engines.map { engine in
      defer { x += 24 + Double(engine.label.count) * 6.5 }
      return SVG.rectangle(x, 27, width: 10, height: 10, colour: engine.colour)
        + SVG.text(engine.label, x + 14, 36, size: 11)
    }.joined(separator: "\n")
  }
}
