import Foundation
import RealmInterchange
import Testing

/// JSON that another program has sent.
@Suite struct ForeignJSONTests {
  private struct Part: Decodable {
    let a: [Int]?
  }

  /// Foundation stops the program at one of these lengths.
  @Test(arguments: ["", "{\"a\":", "{\"b\":{\"a\":"], ["[", "{\"a\":"])
  func `a text of any number of levels is refused or read`(start: String, bracket: String) {
    for count in 1...1100 {
      let text = start + String(repeating: bracket, count: count)
      for end in ["", "\"", "]", "{"] {
        #expect(throws: DecodingError.self) {
          try JSONDecoder.decode(Part.self, fromOthers: Data((text + end).utf8))
        }
      }
    }
  }

  @Test func `levels are counted outside of texts`() throws {
    let text = String(repeating: "[{\\\"", count: 2000)
    for json in ["{\"b\":\"\(text)\",\"a\":[1,2]}", "{\"\(text)\":1,\"a\":[1,2]}"] {
      #expect(try JSONDecoder.decode(Part.self, fromOthers: Data(json.utf8)).a == [1, 2])
    }
    // Brackets that are closed do not count.
    let lists = "{\"b\":[" + String(repeating: "[],", count: 2000) + "0],\"a\":[3]}"
    #expect(try JSONDecoder.decode(Part.self, fromOthers: Data(lists.utf8)).a == [3])
    let deep = String(repeating: "[", count: 490) + String(repeating: "]", count: 490)
    #expect(try JSONDecoder.decode(Part.self, fromOthers: Data("{\"b\":\(deep),\"a\":[4]}".utf8)).a == [4])
  }

  @Test func `a text in UTF-16 or UTF-32 is refused`() {
    for encoding in [String.Encoding.utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32LittleEndian] {
      for text in ["{\"a\":[1]}", String(repeating: "[", count: 513)] {
        guard let data = text.data(using: encoding) else { continue }
        #expect(throws: DecodingError.self) { try JSONDecoder.decode(Part.self, fromOthers: data) }
      }
    }
  }
}
