import Foundation
import RealmStorage
import Testing

@testable import Service

@Suite struct UserDataTests {
  private func values(_ json: String?, roles: [String] = []) -> [String: [Value]] {
    UserData(roles: roles, customData: json).values
  }

  @Test func `roles are texts in their order`() {
    #expect(values(nil, roles: ["b", "a"]) == ["roles": [.string("b"), .string("a")]])
    #expect(values(nil) == [:])
  }

  @Test func `each field of the custom data has its value`() {
    let json = #"{"team":"red","age":3,"low":-9223372036854775808,"ratio":1.5,"on":true,"none":null,"e":""}"#
    let expected: [String: [Value]] = [
      "custom_data.team": [.string("red")], "custom_data.age": [.int(3)], "custom_data.low": [.int(.min)],
      "custom_data.ratio": [.double(1.5)], "custom_data.on": [.bool(true)], "custom_data.none": [.null],
      "custom_data.e": [.string("")],
    ]
    #expect(values(json) == expected)
  }

  @Test func `a list has several values, and the content of objects is left out`() {
    let json = #"{"teams":["a",1,true],"empty":[],"home":{"city":"Rome"},"mixed":[["a"],{"b":1},"c"]}"#
    let expected: [String: [Value]] = [
      "custom_data.teams": [.string("a"), .int(1), .bool(true)], "custom_data.empty": [],
      "custom_data.home": [], "custom_data.mixed": [.string("c")],
    ]
    #expect(values(json) == expected)
  }

  @Test func `custom data can't replace roles`() {
    let made = values(#"{"roles":"admin","":"a","a.b":"c"}"#, roles: ["user"])
    #expect(made["roles"] == [.string("user")])
    #expect(made["custom_data.roles"] == [.string("admin")])
    #expect(made["custom_data."] == [.string("a")])
    #expect(made["custom_data.a.b"] == [.string("c")])
  }

  @Test(arguments: [
    "", " ", "[1]", "{", "}", "null", "3", "\"a\"", "{\"a\":}", "{\"a\":1,}{", "\u{0}", "nonsense",
  ])
  func `a text that is not an object has no values`(json: String) {
    #expect(values(json) == [:])
  }

  @Test func `the numbers of names and values and the depth are limited`() {
    let names = (0..<3000).map { "\"n\(10_000 + $0)\":1" }.joined(separator: ",")
    let many = values("{\(names)}")
    #expect(many.count == 1000)
    #expect(many["custom_data.n10000"] == [.int(1)] && many["custom_data.n10999"] == [.int(1)])
    let list = (0..<3000).map { "\($0)" }.joined(separator: ",")
    #expect(values("{\"a\":[\(list)]}")["custom_data.a"] == (0..<1000).map { Value.int($0) })
    #expect(values(nil, roles: (0..<3000).map { "\($0)" })["roles"]?.count == 1000)
    let deep = "{\"a\":" + String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000) + "}"
    #expect((values(deep)["custom_data.a"] ?? []).isEmpty)
    let long = String(repeating: "x", count: 1 << 20)
    #expect(values("{\"a\":\"\(long)\"}")["custom_data.a"] == [.string(long)])
  }
}
