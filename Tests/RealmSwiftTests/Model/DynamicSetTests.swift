import Foundation
import RealmSwift
import RealmTestSupport
import Testing

private class Bone: EmbeddedObject {
  @Persisted var size: Int
}
private class Puppy: Object {
  @Persisted var name: String
  @Persisted var bone: Bone?
  @Persisted var bones: List<Bone>
}
private class SetByNameKeeper: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var best: Puppy?
  @Persisted var dogs: List<Puppy>
  @Persisted var set: MutableSet<Puppy>
  @Persisted var map: Map<String, Puppy?>
  @Persisted var bone: Bone?
  @Persisted var bones: List<Bone>
  @Persisted var boneMap: Map<String, Bone?>
  @Persisted var any: AnyRealmValue
  @Persisted var numbers: List<Int>
}
private let types: [ObjectBase.Type] = [Bone.self, Puppy.self, SetByNameKeeper.self]

@Suite struct DynamicSetTests {
  private func set(_ keeper: SetByNameKeeper) {
    keeper["best"] = ["name": "Rex", "bone": ["size": 3], "bones": [[1], [2]]] as [String: Any]
    keeper["dogs"] = [["name": "A"], ["B"], Puppy(value: ["name": "C"])] as [Any]
    keeper["set"] = [["name": "S"]]
    keeper["map"] = ["x": ["name": "M"], "y": NSNull()] as [String: Any]
    keeper["bone"] = [4]
    keeper["bones"] = [["size": 5], [6]] as [Any]
    keeper["boneMap"] = ["z": ["size": 7]]
    keeper["any"] = ["k": [1, "two"] as [Any]]
    keeper["numbers"] = [1, 2]
  }

  private func check(_ keeper: SetByNameKeeper, _ what: String) {
    #expect(keeper.best?.name == "Rex" && keeper.best?.bone?.size == 3, "\(what)")
    #expect(keeper.best.map { $0.bones.map(\.size) } == [1, 2], "\(what)")
    #expect(keeper.dogs.map(\.name) == ["A", "B", "C"] && keeper.set.map(\.name) == ["S"], "\(what)")
    #expect(keeper.map["x"]??.name == "M" && keeper.map.count == 2 && keeper.bone?.size == 4, "\(what)")
    #expect(keeper.bones.map(\.size) == [5, 6] && keeper.boneMap["z"]??.size == 7, "\(what)")
    #expect(keeper.any.dictionaryValue?["k"]?.listValue?[1] == .string("two"), "\(what)")
    #expect(Array(keeper.numbers) == [1, 2], "\(what)")
  }

  @Test func `properties that are set by name accept dictionaries and arrays`() throws {
    let unmanaged = SetByNameKeeper()
    set(unmanaged)
    check(unmanaged, "unmanaged")
    let realm = try memoryRealm(types)
    try realm.write {
      let keeper = realm.create(SetByNameKeeper.self, value: ["id": 1])
      set(keeper)
      check(keeper, "managed")
      #expect(keeper.dogs[0].realm == realm && keeper.best?.bone?.realm == realm)
      // The second call replaces the objects of the first.
      set(keeper)
      check(keeper, "managed again")
      // Existing objects stay the same.
      let (dog, bone) = (keeper.best, keeper.bone)
      keeper["best"] = keeper.best
      keeper["bone"] = keeper.bone
      keeper["bones"] = keeper.bones
      keeper["dogs"] = keeper.dogs
      check(keeper, "set to itself")
      #expect(keeper.best?.isSameObject(as: dog) == true && keeper.bone?.isSameObject(as: bone) == true)
      keeper["best"] = nil
      keeper["dogs"] = NSNull()
      keeper["bone"] = nil
      #expect(keeper.best == nil && keeper.dogs.isEmpty && keeper.bone == nil)
    }
    try realm.verify()
  }
}

extension MisuseTests {
  @Test func `a wrong value that is set by name stops the program with class, property and remedy`() {
    let expected = ["Invalid value", "SetByNameKeeper.", "give"]
    expectStop(expected + ["best", "5"]) { SetByNameKeeper()["best"] = 5 }
    expectStop(expected + ["best", "SetByNameKeeper"]) { SetByNameKeeper()["best"] = SetByNameKeeper() }
    expectStop(expected + ["dogs", "[5]"]) { SetByNameKeeper()["dogs"] = [5] }
    expectStop(["Invalid value", "Puppy.name", "7"]) { SetByNameKeeper()["dogs"] = [["name": 7]] }
    expectStop(expected + ["map", "dictionary"]) { SetByNameKeeper()["map"] = [["name": "x"]] }
    expectStop(expected + ["dogs"]) { SetByNameKeeper()["dogs"] = ["name": "Rex"] }
    expectStop(expected + ["numbers", "x"]) { SetByNameKeeper()["numbers"] = ["x"] }
    expectStop(expected + ["bones"]) {
      let realm = try memoryRealm(types)
      try realm.write { realm.create(SetByNameKeeper.self, value: ["id": 1])["bones"] = ["a"] }
    }
    expectStop(["Not in a write transaction", "SetByNameKeeper"]) {
      let realm = try memoryRealm(types)
      let keeper = try realm.write { realm.create(SetByNameKeeper.self, value: ["id": 1]) }
      keeper["best"] = ["name": "Rex"]
    }
  }
}
