import ChartParts
import Foundation

/// The measured times, each with its aim.
final class Figures {
  struct Times {
    let label: String
    let median: Double
    let p99: Double
    let aim: Double?
    /// The time of realm-core for the same task on such a machine, in milliseconds. It is a given figure that is not
    /// measured here.
    let other: Double?
  }

  private(set) var times: [Times] = []

  /// - Parameters:
  ///   - seconds: the times of single commits, in seconds.
  ///   - aim: the aim in milliseconds, like all times that are stored.
  func add(_ label: String, _ seconds: [Double], aim: Double? = nil, other: Double? = nil) {
    let sorted = seconds.sorted().map { $0 * 1e3 }
    func at(_ part: Double) -> Double { sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))] }
    let found = Times(label: label, median: at(0.5), p99: at(0.99), aim: aim, other: other)
    times.append(found)
    let name = label.padding(toLength: 50, withPad: " ", startingAt: 0)
    let aimed = aim.map { String(format: ", aim %.2f", $0) } ?? ""
    print(name, String(format: "median %.3f ms, p99 %.3f ms%@", found.median, found.p99, aimed))
  }

  /// A chart of bars on a logarithmic scale. They are dark up to the median and light up to the 99th percentile, and a
  /// line marks the aim.
  var chart: String {
    let (left, width, barHeight, top) = (330.0, 460.0, 22.0, 60.0)
    let (low, high) = (-2.0, 3.0)
    func x(_ milliseconds: Double) -> Double {
      left + width * (min(max(log10(milliseconds), low), high) - low) / (high - low)
    }
    let bottom = top + Double(times.count) * barHeight
    var parts = stride(from: low, through: high, by: 1).map { power in
      SVG.upright(x(pow(10, power)), from: top - 6, to: bottom, colour: "#e2e8f0")
        + SVG.text(
          "\(SVG.number(pow(10, power))) ms", x(pow(10, power)), top - 10, anchor: "middle", size: 10)
    }
    for (place, row) in times.enumerated() {
      let y = top + Double(place) * barHeight
      parts.append(SVG.text(row.label, left - 8, y + 14, anchor: "end", size: 11))
      parts.append(
        SVG.rectangle(left, y + 3, width: x(row.p99) - left, height: 14, colour: "#fed7aa")
          + SVG.rectangle(left, y + 3, width: x(row.median) - left, height: 14, colour: "#c2410c"))
      if let aim = row.aim { parts.append(SVG.upright(x(aim), from: y, to: y + 20, colour: "#0f766e")) }
      if let other = row.other {
        parts.append(SVG.rectangle(x(other) - 3, y + 7, width: 6, height: 6, colour: "#64748b"))
      }
      parts.append(
        SVG.text(
          String(format: "%.2f", row.median), max(x(row.p99), row.other.map(x) ?? 0) + 6, y + 14, size: 10))
    }
    let title =
      "From a commit to the call of its observer: median, 99 of a hundred (light), aim (line), realm-core (square)"
    return SVG.page(title, width: left + width + 70, height: bottom + 10, parts)
  }
}
