import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct TextMakerTests {
  private func text(_ bytes: [UInt8]) -> String? { TextMaker().text(bytes.span.bytes) }

  @Test func `the layout of short texts in memory is the known layout`() {
    #expect(TextMaker.knowsLayout)
  }

  @Test func `bytes that are not UTF-8 give no text`() {
    for text in ["", "a", "é", "漢", "🙂", "12345678é🙂", String(repeating: "ü", count: 30)] {
      let bytes = Array(text.utf8)
      #expect(self.text(bytes) == text)
      for cut in bytes.indices where bytes[cut] & 0xc0 == 0x80 {
        #expect(self.text(Array(bytes[..<cut])) == nil)
      }
    }
    var generator = SeededGenerator(seed: 6)
    for _ in 0..<20_000 {
      let bytes = (0..<1 + generator.below(5)).map { _ in
        [0x41, 0x80, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0x90, 0x8f][
          generator.below(15)]
          as UInt8
      }
      #expect((text(bytes) != nil) == (String(validating: bytes, as: UTF8.self) != nil))
    }
  }

  @Test func `texts of every length equal the texts that the standard library makes, and behave like them`() {
    var generator = SeededGenerator(seed: 60)
    let letters = ["a", "Z", "0", " ", "\0", "~", "é", "漢", "🙂", "e\u{301}"]
    for length in 0..<20 {
      for _ in 0..<200 {
        let isASCII = generator.chance(50)
        let expected = (0..<length).map { _ in letters[generator.below(isASCII ? 6 : letters.count)] }
          .joined()
        guard let made = text(Array(expected.utf8)) else {
          Issue.record("\(expected.debugDescription) is no text")
          continue
        }
        #expect(made == expected && made.hashValue == expected.hashValue)
        #expect(Array(made.utf8) == Array(expected.utf8) && Array(made) == Array(expected))
        #expect(made.utf8.count == expected.utf8.count && made.utf16.count == expected.utf16.count)
        #expect(made + "!" == expected + "!" && made.uppercased() == expected.uppercased())
        #expect((made < "m") == (expected < "m"))
      }
    }
  }
}
