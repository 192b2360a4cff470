import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmServer

/// The bytes by which the index of the history orders values.
@Suite struct RouteKeyTests {
  /// Makes values of all types, many of which are similar.
  private struct Maker {
    var generator: SeededGenerator
    /// The first bytes of many texts and data.
    private let stem: [UInt8]

    init(seed: UInt64) {
      var drawn = SeededGenerator(seed: seed)
      stem = (0..<44).map { _ in [0, 0, 97, 97, 97, 98][drawn.below(6)] }
      generator = drawn
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
      elements[generator.below(elements.count)]
    }

    /// A count from 0 to 40, and often near 32.
    private mutating func count() -> Int {
      generator.chance(60) ? 29 + generator.below(8) : generator.below(41)
    }

    mutating func data() -> [UInt8] {
      var bytes = Array(stem.prefix(count()))
      for _ in 0..<generator.below(3) { bytes.append(pick([0, 1, 2, 97, 0xfe, 0xff])) }
      if !bytes.isEmpty, generator.chance(30) {
        bytes[generator.below(bytes.count)] = pick([0, 1, 2, 0xff])
      }
      return Array(bytes.prefix(40))
    }

    mutating func text() -> String {
      var text = String(decoding: stem.prefix(count()), as: UTF8.self)
      for _ in 0..<generator.below(3) { text += pick(["\0", "\u{1}", "\u{2}", "a", "é", "\u{10ffff}"]) }
      if generator.chance(10) { text = pick(["é", "\u{10ffff}"]) + text }
      return text
    }

    private static let integers: [Int64] = [
      0, 1, -1, 2, 255, 256, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, .max, .max - 1, .min, .min + 1,
    ]
    private static let doubles: [Double] = [
      0, -0.0, 0.1, -0.1, 0.5, 1, 1.5, 0x1p53, 0x1p63, -0x1p63, 1e19, 1e300, -1e300, .infinity, -.infinity,
      .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
    ]
    private static let decimals = [
      "0", "-0.00", "0.1", "-0.1", "0.10", "0.1000000000000000055", "0.1000000000000000056", "0.5", "1",
      "1.0", "1.5", "9007199254740993", "9223372036854775807", "9223372036854775808", "1E19", "1E300",
      "1E400", "-1E400", "1E6000", "-1E6000", "1E-400", "-1E-400", "1E-6000", "inf", "-inf",
    ]

    mutating func number() -> Value {
      switch generator.below(8) {
      case 0: .int(pick(Self.integers))
      case 1: .int(Int64(bitPattern: generator.next()) >> Int64(generator.below(64)))
      case 2: .double(pick(Self.doubles))
      case 3: .double(Double(generator.below(2000) - 1000) / pick([1, 2, 3, 1000]))
      case 4:
        .float(
          pick([0, -0.0, 0.1, 0.5, 1, -1.5, 16_777_216, .infinity, -.infinity, 1e38, .leastNonzeroMagnitude]))
      case 5: .float(Float(generator.below(2000) - 1000) / pick([1, 2, 3, 1000]))
      case 6:
        DecimalNumber(parsing: pick(Self.decimals)).map { .decimal128($0.stored) } ?? .null
      default:
        DecimalNumber(parsing: "\(generator.below(2000) - 1000)E\(generator.below(12) - 6)")
          .map { .decimal128($0.stored) } ?? .null
      }
    }

    mutating func value() -> Value {
      switch generator.below(12) {
      case 0...3: return number()
      case 4, 5: return .string(text())
      case 6, 7: return .data(data())
      case 8:
        let seconds: Int64 = pick([0, 1, -1, .max, .min, Int64(bitPattern: generator.next())])
        return .date(Timestamp(seconds: seconds, nanoseconds: pick([0, 1, 999_999_999])))
      case 9: return .objectID(ObjectIDBytes([pick([0, 1, 0xff])] + generator.bytes(11)))
      case 10: return .uuid(SixteenBytes([pick([0, 1, 0xff])] + generator.bytes(15)))
      default: return pick([.null, .bool(false), .bool(true)])
      }
    }
  }

  private static func isEqual(_ left: Value, _ right: Value) -> Bool {
    if FilterOrder.order(left, right) == 0 { return true }
    guard let key = FilterOrder.key(left) else { return false }
    return key == FilterOrder.key(right)
  }

  @Test(arguments: Slow.seeds(20, slow: 1000))
  func `codes have the order of the values, and no code is a prefix of another`(seed: UInt64) {
    var maker = Maker(seed: seed)
    let values = (0..<100).map { _ in maker.value() }
    let codes = values.map { RouteKey.code($0) }
    for (left, code) in zip(values, codes) {
      for (right, other) in zip(values, codes) {
        if FilterOrder.order(left, right) == -1, other.lexicographicallyPrecedes(code) {
          Issue.record("seed \(seed): \(left) is less than \(right): \(code), \(other)")
        }
        if Self.isEqual(left, right), code != other {
          Issue.record("seed \(seed): \(left) equals \(right): \(code), \(other)")
        }
        if code != other, other.starts(with: code) {
          Issue.record("seed \(seed): \(left) begins \(right): \(code), \(other)")
        }
      }
    }
  }

  @Test(arguments: Slow.seeds(20, slow: 1000))
  func `the code of a prefix is a prefix of the codes of the texts`(seed: UInt64) {
    var maker = Maker(seed: seed)
    var count = 0
    for _ in 0..<300 {
      let text = maker.text()
      let scalars = Array(text.unicodeScalars)
      var prefix = String.UnicodeScalarView()
      prefix.append(contentsOf: scalars.prefix(maker.generator.below(scalars.count + 1)))
      let beginning = String(prefix)
      let code = RouteKey.code(.string(text))
      #expect(
        code.starts(with: RouteKey.code(prefix: beginning)),
        "seed \(seed): \(Array(beginning.utf8)) of \(Array(text.utf8))")
      if beginning.utf8.count > 32 { count += 1 }
    }
    #expect(count > 0, "seed \(seed)")
  }
}
