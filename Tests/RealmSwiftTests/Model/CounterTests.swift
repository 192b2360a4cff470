import Foundation
import RealmSwift
import Testing

@Suite struct CounterTests {
  @Test func `numbers of managed and unmanaged objects are added to, and nil stays nil`() throws {
    let realm = try memoryRealm([Everything.self, Person.self, Dog.self])
    let object = Everything()
    object.increment(\.int, by: 5)
    object.increment(\.optionalInt)
    object.increment(\.int8, by: -2)
    #expect(object.int == 5 && object.optionalInt == nil && object.int8 == -2)
    try realm.write {
      realm.add(object)
      object.increment(\.int)
      object.increment(\.int64, by: 1 << 40)
      object.increment(\.optionalInt, by: 3)
      object.increment(\.int8, by: -126)
    }
    #expect(object.int == 6 && object.int64 == 1 << 40 && object.optionalInt == nil && object.int8 == -128)
    try realm.write {
      object.optionalInt = 1
      object.increment(\.optionalInt, by: 3)
    }
    #expect(object.optionalInt == 4)
  }
}

extension MisuseTests {
  @Test func `a sum that its property can't hold stops the program, and changes nothing`() throws {
    expectStop(["Overflow", "Everything.int8"]) {
      let realm = try! memoryRealm([Everything.self, Person.self, Dog.self])
      try! realm.write { realm.create(Everything.self, value: ["int8": 127]).increment(\.int8) }
    }
    expectStop(["Overflow", "Everything.int"]) { Everything(value: ["int": Int.max]).increment(\.int) }
    expectStop(["Not in a write transaction", "Everything.int"]) {
      let realm = try! memoryRealm([Everything.self, Person.self, Dog.self])
      var object: Everything!
      try! realm.write { object = realm.create(Everything.self) }
      object.increment(\.int)
    }
    expectStop(["Primary key of a managed object", "Person.id"]) {
      let realm = try! memoryRealm()
      try! realm.write { realm.create(Person.self, value: [1]).increment(\.id) }
    }
  }
}
