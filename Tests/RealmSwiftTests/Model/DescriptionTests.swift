import Foundation
import RealmSwift
import RealmTestSupport
import Testing

private class Friend2: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text = ""
  @Persisted var friends: List<Friend2>
  @Persisted var set: MutableSet<Friend2>
  @Persisted var map: Map<String, Friend2?>
  @Persisted var any: AnyRealmValue
}

@Suite struct DescriptionTests {
  private let limit = 100 * 1024

  @Test func `the description of a densely linked graph has a limited length`() throws {
    for count in [5, 10, 20, 60] {
      let realm = try memoryRealm([Friend2.self])
      try realm.write {
        let all = (0..<count).map { realm.create(Friend2.self, value: ["id": $0]) }
        for (index, one) in all.enumerated() {
          one.friends.append(objectsIn: all)
          if index % 3 == 0 { one.set.insert(objectsIn: all) }
          if index % 4 == 0 { for other in all { one.map["k\(other.id)"] = other } }
          one.any = .fromArray(all.map { .object($0) })
        }
      }
      let all = realm.objects(Friend2.self)
      let texts = [
        all[0].description, all.description, all[0].friends.description, all[0].map.description,
        all[0].set.description, "\(all[0])", String(reflecting: all[0]), AnyRealmCollection(all).description,
      ]
      for text in texts { #expect(text.utf8.count <= limit && text.utf8.count > 1000, "\(count)") }
      #expect(texts[0] == all[0].description)
      let unmanaged = Friend2(value: all[0])
      #expect(unmanaged.description.utf8.count <= limit)
      if count == 60 {
        #expect(texts[0].hasSuffix("."))
        #expect(texts[0].contains("\n... left out, as the text would be too long: "))
        // Every bracket that was opened is closed.
        #expect(texts[0].filter { $0 == "{" }.count == texts[0].filter { $0 == "}" }.count)
      }
    }
  }

  @Test func `a list takes one level of a description, and its elements the next`() throws {
    let one = Friend2(value: ["id": 1])
    one.friends.append(one)
    let text = one.description
    // The levels are the object, its list, the object in that list, its list and the object in that list.
    #expect(text.components(separatedBy: "Friend2 {").count - 1 == 3)
    #expect(text.components(separatedBy: "friends = List<").count - 1 == 2)
    #expect(text.contains("<Maximum depth exceeded>"))
    #expect(text.contains("\n\tfriends = List<Friend2> (\n\t\t[0] Friend2 {\n\t\t\tid = 1;\n"))
    #expect(Friend2().description.contains("\n\tfriends = List<Friend2> (\n\t);\n"))
  }

  @Test func `values that contain themselves are printed`() {
    let list = List<AnyRealmValue>()
    list.append(.list(list))
    let map = Map<String, AnyRealmValue>()
    map["a"] = .dictionary(map)
    map["b"] = .list(list)
    for text in [list.description, map.description] {
      #expect(text.contains("<Maximum depth exceeded>") && text.utf8.count < 2000)
    }
    list.removeAll()
    map.removeAll()
  }

  @Test func `a long text is cut at a character, and lines of a text are indented`() {
    let friend = Friend2(value: ["id": 1, "text": String(repeating: "äß漢🎈\n", count: 20_000)])
    let text = friend.description
    #expect(text.utf8.count <= limit && text.contains("bytes of a value") && text.contains("\n\täß漢🎈"))
    let short = Friend2(value: ["id": 1, "text": "a\nb"])
    #expect(short.description.contains("\ttext = a\n\tb;\n"))
  }
}
