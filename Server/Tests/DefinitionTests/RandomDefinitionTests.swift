import Definition
import Testing

/// Random numbers that are the same for the same seed (splitmix64).
private struct Random: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}

/// Tests that any text is a definition or has problems.
@Suite struct RandomDefinitionTests {
  /// - Returns: True if the text is a definition.
  @discardableResult
  private static func check(_ text: String, _ comment: Comment) -> Bool {
    let problems = Reading.problems(text)
    let breaks = text.unicodeScalars.filter { $0 == "\n" }.count
    let lines = text.unicodeScalars.last == "\n" ? breaks : breaks + 1
    for problem in problems {
      #expect((1...lines).contains(problem.line) && problem.column >= 1, comment)
      #expect(!problem.what.isEmpty && !problem.remedy.isEmpty && problem.file == "app.yaml", comment)
    }
    return problems.isEmpty
  }

  @Test func `every prefix of the sample is a definition, or has problems with places in it`() {
    let sample = Array(AppDefinition.sample.unicodeScalars)
    for length in 0...sample.count {
      Self.check(String(String.UnicodeScalarView(sample[..<length])), "\(length) scalars")
    }
  }

  private static let parts = [
    "&a", "*a", "!", "|", ">", "'", "\"", "\\", "[", "]", "{", "}", ":", ": ", "- ", "? ", "#", " #", ",",
    "\n", "\n  ", "\t", "\r", "\r\n", "\0", "\u{85}", "\u{2028}", "\u{FEFF}", "é", "\u{1F600}", "~",
    "---\n", "...\n", "%YAML 1.1\n", "<<: ", "= ", "0", "99999999999999999999", "true", "wrong",
    "$partition", "id: b\n",
  ]

  private static func mutated(_ text: String, _ random: inout Random) -> String {
    var scalars = Array(text.unicodeScalars)
    for _ in 0...random.below(4) {
      let start = random.below(scalars.count + 1)
      let end = min(scalars.count, start + random.below(random.below(3) == 0 ? 40 : 3))
      switch random.below(4) {
      case 0: scalars.removeSubrange(start..<end)
      case 1: scalars.insert(contentsOf: scalars[start..<end], at: random.below(scalars.count + 1))
      default:
        scalars.replaceSubrange(start..<end, with: parts[random.below(parts.count)].unicodeScalars)
      }
    }
    return String(String.UnicodeScalarView(scalars))
  }

  @Test func `mutations of the sample are definitions, or have problems with places in them`() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = Random(seed: seed)
    var good = 0
    for round in 0..<2_000 {
      let text = Self.mutated(AppDefinition.sample, &random)
      if Self.check(text, "seed \(seed), round \(round)") { good += 1 }
    }
    #expect(good > 20 && good < 1_900, "seed \(seed): \(good) definitions")
  }
}
