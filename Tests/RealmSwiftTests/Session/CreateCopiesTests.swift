import Foundation
import RealmSwift
import RealmTestSupport
import Testing

private class Toy: Object {
  @Persisted var name: String
  @Persisted var next: Toy?
}
private class Tag: EmbeddedObject {
  @Persisted var text: String
  @Persisted var parts: List<Part2>
  @Persisted var toy: Toy?
}
private class Part2: EmbeddedObject {
  @Persisted var text: String
}
private class ToyBox: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var best: Toy?
  @Persisted var toys: List<Toy>
  @Persisted var set: MutableSet<Toy>
  @Persisted var map: Map<String, Toy?>
  @Persisted var any: AnyRealmValue
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var anyMap: Map<String, AnyRealmValue>
  @Persisted var tag: Tag?
  @Persisted var tags: List<Tag>
  @Persisted var tagMap: Map<String, Tag?>
  @Persisted var inner: ToyBox?
}
private let types: [ObjectBase.Type] = [Toy.self, Tag.self, Part2.self, ToyBox.self]

@Suite struct CreateCopiesTests {
  private func toy(_ name: String) -> Toy { Toy(value: ["name": name]) }

  @Test func `create copies unmanaged objects in its value, wherever they are`() throws {
    let realm = try memoryRealm(types)
    let shapes: [(String, (Toy) -> Any, (ToyBox) -> Toy?)] = [
      ("best", { $0 }, { $0.best }),
      ("toys", { [$0] }, { $0.toys.first }),
      ("set", { [$0] }, { $0.set.first }),
      ("map", { ["a": $0] }, { $0.map["a"] ?? nil }),
      ("any", { $0 }, { $0.any.object(Toy.self) }),
      ("any", { AnyRealmValue.object($0) }, { $0.any.object(Toy.self) }),
      ("any", { ["x": [$0]] }, { $0.any.dictionaryValue?["x"]?.listValue?[0].object(Toy.self) }),
      ("any", { AnyRealmValue.fromArray([.object($0)]) }, { $0.any.listValue?[0].object(Toy.self) }),
      ("anys", { [$0, 1] as [Any] }, { $0.anys.first?.object(Toy.self) }),
      ("anyMap", { ["k": $0] }, { $0.anyMap["k"]?.object(Toy.self) }),
      ("inner", { ["id": 1000, "toys": [$0]] as [String: Any] }, { $0.inner?.toys.first }),
      ("inner", { ToyBox(value: ["id": 1000, "toys": [$0]] as [String: Any]) }, { $0.inner?.toys.first }),
      ("tag", { ["toy": $0] }, { $0.tag?.toy }),
    ]
    for (id, (name, value, read)) in shapes.enumerated() {
      let rex = toy("rex \(id)")
      rex.next = toy("tail \(id)")
      try realm.write {
        let box = realm.create(
          ToyBox.self, value: ["id": id, name: value(rex)] as [String: Any], update: .modified)
        let copy = try #require(read(box), "\(name) \(id)")
        #expect(
          copy !== rex && copy.name == "rex \(id)" && copy.realm != nil && copy.next?.name == "tail \(id)")
      }
      #expect(rex.realm == nil && rex.next?.realm == nil, "\(name) \(id)")
    }
  }

  @Test func `create links objects of its own realm, and copies those of another`() throws {
    let (realm, other) = (try memoryRealm(types), try memoryRealm(types))
    let (mine, theirs) = (toy("mine"), toy("theirs"))
    try realm.write { realm.add(mine) }
    try other.write { other.add(theirs) }
    try realm.write {
      let box = realm.create(
        ToyBox.self,
        value: [
          "id": 1, "best": mine, "toys": [mine, theirs, theirs], "any": theirs,
          "map": ["m": mine, "t": theirs],
        ] as [String: Any])
      #expect(box.best?.isSameObject(as: mine) == true && box.toys[0].isSameObject(as: mine))
      #expect(box.map["m"]??.isSameObject(as: mine) == true)
      #expect(box.toys[1].realm == realm && box.toys[1].name == "theirs")
      // One object in a value is copied once.
      #expect(box.toys[1].isSameObject(as: box.toys[2]))
      #expect(box.any.object(Toy.self)?.isSameObject(as: box.toys[1]) == true)
    }
    #expect(theirs.realm == other && realm.objects(Toy.self).count == 2)
  }

  @Test func `an object given twice is copied once, and circles are copied as circles`() throws {
    let realm = try memoryRealm(types)
    let (one, two) = (toy("one"), toy("two"))
    one.next = two
    two.next = one
    try realm.write {
      let box = realm.create(ToyBox.self, value: ["id": 1, "toys": [one, two, one]] as [String: Any])
      #expect(box.toys.count == 3 && box.toys[0].isSameObject(as: box.toys[2]))
      #expect(box.toys[0].next?.isSameObject(as: box.toys[1]) == true)
      #expect(box.toys[1].next?.isSameObject(as: box.toys[0]) == true)
      let again = realm.create(Toy.self, value: one)
      #expect(again.next?.next?.isSameObject(as: again) == true)
    }
    #expect(one.realm == nil && two.realm == nil && realm.objects(Toy.self).count == 4)
  }

  @Test func `an object that is given by its key updates the existing object`() throws {
    let realm = try memoryRealm(types)
    let inner = ToyBox(value: ["id": 2, "best": toy("a")] as [String: Any])
    try realm.write {
      realm.create(ToyBox.self, value: ["id": 2])
      let box = realm.create(
        ToyBox.self, value: ["id": 1, "inner": inner] as [String: Any], update: .modified)
      #expect(box.inner?.best?.name == "a")
    }
    #expect(inner.realm == nil && realm.objects(ToyBox.self).count == 2)
  }

  @Test func `create from an object copies its embedded objects, and links the others`() throws {
    let realm = try memoryRealm(types)
    try realm.write {
      let box = realm.create(
        ToyBox.self,
        value: [
          "id": 1, "best": ["name": "rex"],
          "tag": ["text": "a", "parts": [["text": "p"], ["text": "q"]], "toy": ["name": "t"]]
            as [String: Any],
          "tags": [["text": "b"], ["text": "c"]],
          "tagMap": ["x": ["text": "d"], "y": NSNull()] as [String: Any],
        ] as [String: Any])
      let values = Dictionary(
        uniqueKeysWithValues: box.objectSchemaNames.filter { $0 != "id" }.map { ($0, box[$0] as Any) })
      let copies = [
        realm.create(ToyBox.self, value: values.merging(["id": 2]) { $1 }),
        realm.create(
          ToyBox.self,
          value: [
            3, box.best as Any, box.toys, box.set, box.map, 0, [], [:], box.tag as Any,
            box.tags, box.tagMap,
          ]),
      ]
      for copy in copies {
        #expect(copy.best?.isSameObject(as: box.best) == true)
        #expect(copy.tag?.text == "a" && copy.tag?.isSameObject(as: box.tag) == false)
        #expect(copy.tag.map { $0.parts.map(\.text) } == ["p", "q"])
        #expect(copy.tag?.toy?.isSameObject(as: box.tag?.toy) == true)
        #expect(copy.tags.map(\.text) == ["b", "c"] && !copy.tags[0].isSameObject(as: box.tags[0]))
        #expect(copy.tagMap["x"]??.text == "d" && copy.tagMap.count == 2)
      }
      #expect(box.tag?.text == "a" && box.tags.count == 2)
    }
    try realm.verify()
    let one = realm.objects(Toy.self)
    #expect(one.count == 2)
  }

  @Test
  func
    `an object without a key is duplicated with its parts, and a part given twice is copied for each place`()
    throws
  {
    let realm = try memoryRealm([Crate.self, Tag.self, Part2.self, Toy.self])
    let part = Tag(value: ["text": "a"])
    try realm.write {
      let crate = realm.create(Crate.self, value: ["tag": part, "tags": [part, part]] as [String: Any])
      #expect(crate.tags.map(\.text) == ["a", "a"] && crate.tag?.text == "a" && part.realm == nil)
      let copy = realm.create(Crate.self, value: crate)
      copy.tags[0].text = "changed"
      #expect(crate.tags[0].text == "a" && copy.tags.count == 2 && copy.tag?.text == "a")
    }
    try realm.verify()
  }
}

private class Crate: Object {
  @Persisted var tag: Tag?
  @Persisted var tags: List<Tag>
}

extension ObjectBase {
  fileprivate var objectSchemaNames: [String] {
    ["id", "best", "toys", "set", "map", "any", "anys", "anyMap", "tag", "tags", "tagMap"]
  }
}
