import Foundation
import RealmStorage
import RealmTestSupport

@testable import RealmSwift

/// Makes values of all cases that are read from extended JSON as they were written: dates have whole milliseconds,
/// timestamps have whole seconds, no number is NaN, and no key begins with `$`.
struct RandomBSON {
  var generator: SeededGenerator

  /// The number of kinds of values. The last two kinds are documents and arrays.
  static let kinds = 17

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func value(levels: Int = 4) -> AnyBSON {
    value(of: generator.below(levels > 0 ? Self.kinds : Self.kinds - 2), levels: levels)
  }

  mutating func value(of kind: Int, levels: Int = 4) -> AnyBSON {
    switch kind {
    case 0: return .null
    case 1: return .bool(generator.chance(50))
    case 2: return .int32(Int32(truncatingIfNeeded: whole()))
    case 3: return .int64(whole())
    case 4: return .double(double())
    case 5: return .decimal128(decimal())
    case 6: return .string(text())
    case 7: return .binary(Data(generator.bytes(generator.below(20))))
    case 8:
      return .objectId(
        ObjectId(
          bytes: ObjectIDBytes(high: generator.next(), low: UInt32(truncatingIfNeeded: generator.next()))))
    case 9: return .uuid(UUID(bytes: generator.bytes(16)) ?? UUID())
    case 10: return .datetime(Date(milliseconds: Int64(generator.below(1 << 48)) - 1 << 47))
    case 11: return .timestamp(Date(logSeconds: UInt32(truncatingIfNeeded: generator.next())))
    case 12: return expression()
    case 13: return .minKey
    case 14: return .maxKey
    case 15: return .array((0..<generator.below(5)).map { _ in value(levels: levels - 1) })
    default:
      var document: Document = [:]
      for _ in 0..<generator.below(5) { document["k" + text()] = value(levels: levels - 1) }
      return .document(document)
    }
  }

  /// A random integer of any magnitude. It may be an end of the range.
  private mutating func whole() -> Int64 {
    let ends: [Int64] = [0, 1, -1, .min, .max, Int64(Int32.min), Int64(Int32.max)]
    if generator.chance(20) { return ends[generator.below(ends.count)] }
    return Int64(bitPattern: generator.next()) >> Int64(generator.below(64))
  }

  private mutating func double() -> Double {
    while true {
      let number = generator.chance(50) ? Double(whole()) : Double(bitPattern: generator.next())
      if !number.isNaN { return number }
    }
  }

  private mutating func decimal() -> Decimal128 {
    let digits = (0...generator.below(34)).map { _ in String(generator.below(10)) }.joined()
    let text = (generator.chance(50) ? "-" : "") + digits + "E\(generator.below(12_000) - 6_000)"
    return (try? Decimal128(string: text)) ?? 0
  }

  private mutating func text() -> String {
    let parts = [
      "a", "Z", "7", " ", "\"", "\\", "/", "\u{0}", "\u{1f}", "\n", "\r", "\t", "\u{8}", "\u{c}", "\u{7f}",
      "\u{e9}", "\u{2028}", "\u{feff}", "\u{ffff}", "\u{10ffff}", "🐕", "日", "$", ".", "{", "]",
    ]
    return (0..<generator.below(8)).map { _ in parts[generator.below(parts.count)] }.joined()
  }

  private mutating func expression() -> AnyBSON {
    let patterns = ["a.c", "^\\d+$", "[\"\\\\]", "日+", "(a|b)*c"]
    let all: [NSRegularExpression.Options] = [
      .caseInsensitive, .allowCommentsAndWhitespace, .dotMatchesLineSeparators, .anchorsMatchLines,
      .useUnixLineSeparators, .useUnicodeWordBoundaries,
    ]
    var options: NSRegularExpression.Options = []
    for option in all where generator.chance(30) { options.formUnion(option) }
    let pattern = patterns[generator.below(patterns.count)]
    return (try? NSRegularExpression(pattern: pattern, options: options)).map { .regex($0) } ?? .null
  }
}
