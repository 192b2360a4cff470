import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct DecimalNumberTests {
  private static func lines(_ text: String) -> [[String]] {
    text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
  }

  private static func number(_ text: String) throws -> DecimalNumber {
    try #require(DecimalNumber(parsing: text), "\(text)")
  }

  @Test func `results are those of another implementation, to the last zero`() throws {
    for line in Self.lines(DecimalVectors.operations) {
      let (left, right) = (try Self.number(line[0]), try Self.number(line[2]))
      let result =
        switch line[1] {
        case "+": left + right
        case "-": left - right
        case "*": left * right
        default: left / right
        }
      #expect(result.text == line[3], "\(line)")
      // A result may be stored.
      #expect(DecimalNumber(result.stored).text == line[3] || result.isZero, "\(line)")
    }
  }

  @Test func `texts name the numbers that they name to another implementation`() throws {
    for line in Self.lines(DecimalVectors.texts) {
      #expect(try Self.number(line[0]).text == line[1], "\(line)")
    }
  }

  @Test(arguments: [
    "", "-", ".", "e5", "1e", "1e+", "1.2.3", "1 ", " 1", "0x10", "1,5", "1e5.0", "--1", "infinit", "nanx",
    "١",
  ])
  func `a text that names no number is none`(text: String) {
    #expect(DecimalNumber(parsing: text) == nil)
  }

  @Test func `a number is read back from its text and from its bytes`() throws {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<5_000 {
      let coefficient =
        (UInt128(generator.next()) << 64 | UInt128(generator.next()))
        % DecimalNumber.powers[1 + generator.below(34)]
      let number = DecimalNumber(
        isNegative: generator.chance(50), coefficient: coefficient, exponent: generator.below(12_288) - 6176)
      for again in [try Self.number(number.text), DecimalNumber(number.stored)] {
        if number.stored.number == 0 { continue }
        #expect(
          again.coefficient == number.coefficient && again.exponent == number.exponent, "\(number.text)")
        #expect(again.isNegative == number.isNegative, "\(number.text)")
      }
      #expect(DecimalNumber(parsingExactly: number.text) != nil, "\(number.text)")
    }
  }

  @Test func `any 16 bytes are some number, whose text names it`() throws {
    var generator = SeededGenerator(seed: 6)
    for _ in 0..<Slow.count(4000, slow: 100_000) {
      let number = DecimalNumber(SixteenBytes(generator.bytes(16)))
      let again = try Self.number(number.text)
      #expect(again.canonical == number.canonical, "\(number.text)")
      let sum = number + number
      #expect(number.isNaN == sum.isNaN)
      _ = (number * number, number / number, number - number)
    }
  }

  @Test func `the canonical form is of an equal number, and equal numbers have one`() {
    // Each line has one number, written with more and more zeros behind the digits; the exponents reach both ends.
    for exponent in [-6176, -6175, -40, -1, 0, 1, 5_000, 6_080, 6_110, 6_111] {
      for digits: UInt128 in [1, 7, 10, 12_345, 9_999_999_999] {
        for isNegative in [false, true] {
          var forms: Set<SixteenBytes> = []
          var (coefficient, left) = (digits, exponent)
          while left >= -6176, coefficient <= DecimalNumber.greatest {
            let number = DecimalNumber(isNegative: isNegative, coefficient: coefficient, exponent: left)
            let canonical = DecimalNumber(number.canonical)
            #expect(number.order(canonical) == 0, "\(number.text) became \(canonical.text)")
            forms.insert(number.canonical)
            (coefficient, left) = (coefficient * 10, left - 1)
          }
          #expect(forms.count == 1, "\(digits)E\(exponent)")
        }
      }
    }
  }

  @Test func `only what keeps all digits is exact`() {
    #expect(DecimalNumber(parsingExactly: String(repeating: "1", count: 34)) != nil)
    #expect(DecimalNumber(parsingExactly: String(repeating: "1", count: 35)) == nil)
    #expect(DecimalNumber(parsingExactly: "1" + String(repeating: "0", count: 60)) != nil)
    #expect(DecimalNumber(parsingExactly: "1" + String(repeating: "0", count: 60) + "1") == nil)
    #expect(DecimalNumber(parsingExactly: "1e7000") == nil)
  }

  @Test func `doubles become the decimal that their text names`() {
    #expect(DecimalNumber(0.1).text == "0.1" && DecimalNumber(-1e300).text == "-1E+300")
    #expect(DecimalNumber(Double.infinity).isInfinite && DecimalNumber(Double.nan).isNaN)
    #expect(DecimalNumber(-0.0).isNegative && DecimalNumber(Float(0.1)).text == "0.1")
    #expect(DecimalNumber(Int64.min).text == "-9223372036854775808")
    #expect(DecimalNumber(UInt128.max).text == "3.402823669209384634633746074317682E+38")
  }

  @Test func `digits are counted`() {
    for count in 1...38 {
      #expect(WideNumber.digitCount(DecimalNumber.powers[count] - 1) == count)
      #expect(WideNumber.digitCount(DecimalNumber.powers[count]) == count + 1)
    }
    for count in 39...76 {
      let power = WideNumber(high: 0, low: 1).shifted(count)
      #expect(power.digitCount == count + 1)
      #expect((power - WideNumber(high: 0, low: 1)).digitCount == count)
    }
  }
}
