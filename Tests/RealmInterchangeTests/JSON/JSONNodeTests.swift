import RealmInterchange
import Testing

@Suite struct JSONNodeTests {
  private func node(_ text: String) throws -> JSONNode { try JSONParser.value(of: Array(text.utf8)) }

  @Test func `a value can be read only as its own type`() throws {
    let object = try node(#"{"a":null,"b":true,"c":"x","d":[1,2],"e":{"f":false}}"#)
    #expect(object.members?.map(\.name) == ["a", "b", "c", "d", "e"])
    #expect(object["a"]?.isNull == true)
    #expect(object["b"]?.bool == true)
    #expect(object["c"]?.string == "x")
    #expect(object["d"]?.array?.count == 2)
    #expect(object["e"]?["f"]?.bool == false)
    #expect(object["b"]?.string == nil)
    #expect(object["c"]?.bool == nil)
    #expect(object["d"]?.members == nil)
    #expect(object["e"]?.array == nil)
    #expect(object.isNull == false)
  }

  @Test func `members are found by the bytes of their names`() throws {
    let object = try node("{\"é\":1,\"e\u{301}\":2}")
    #expect(object["é"]?.shown == "1")
    #expect(object["e\u{301}"]?.shown == "2")
    #expect(object["e"] == nil)
    let list = try node("[1]")
    #expect(list["é"] == nil)
  }

  @Test func `an object is tagged only if it has no other member`() throws {
    let one = try node(#"{"$int":"5"}"#)
    #expect(one.tagged("$int")?.string == "5")
    #expect(one.tagged("$double") == nil)
    let two = try node(#"{"$int":"5","a":1}"#)
    #expect(two.tagged("$int") == nil)
    let text = try node(#""$int""#)
    #expect(text.tagged("$int") == nil)
  }

  @Test func `the text that is shown of a value has at most sixty characters`() throws {
    let most = try node(JSON.string(String(repeating: "x", count: 58)))
    #expect(most.shown == JSON.string(String(repeating: "x", count: 58)))
    let more = try node(JSON.string(String(repeating: "x", count: 59)))
    #expect(more.shown == "\"" + String(repeating: "x", count: 58) + "…")
    let list = try node(JSON.array((0..<1000).map { "\($0)" }))
    #expect(list.shown == "[0,1,2,3,4,5,6,7,8,9]")
  }
}
