import Foundation
import RealmSwift
import Testing

private class Hidden: Object {
  @Persisted var value: Int
}

@Suite("Model classes")
struct ClassTests {
  @Test("Properties of a generic superclass are stored")
  func generic() throws {
    let realm = try memoryRealm()
    try realm.write {
      realm.create(OfText.self, value: ["content": "a"])
      realm.create(OfNumber.self, value: ["content": 4])
    }
    let text = realm.objects(OfText.self)[0]
    #expect(text.content == "a" && text.extra == 3 && realm.objects(OfNumber.self)[0].content == 4)
    #expect(realm.objects(OfText.self).where { $0.content == "a" && $0.extra == 3 }.count == 1)
    #expect(realm.objects(OfText.self).sorted(by: \.content).count == 1)
  }

  @Test("A private class is stored, and so are properties with uncommon names")
  func names() throws {
    let realm = try memoryRealm()
    try realm.write {
      realm.create(Hidden.self, value: [3])
      realm.create(Names.self, value: [1, 2, 3, "名", 5, 6, "c", 8])
    }
    let names = realm.objects(Names.self)[0]
    #expect(realm.objects(Hidden.self)[0].value == 3)
    #expect(names.class == 1 && names.self.größe == 3 && names.名前 == "名" && names.newValue == 5)
    #expect(names.row == 6 && names.context == "c" && names._under == 8)
    #expect(realm.objects(Names.self).where { $0.größe == 3 && $0.名前 == "名" && $0._under == 8 }.count == 1)
    #expect(realm.objects(Names.self).sorted(by: \.größe).count == 1)
  }

  @Test("Observers of a property run when it is assigned, managed or not")
  func observers() throws {
    let realm = try memoryRealm()
    let object = Observed()
    object.number = 3
    #expect(object.log == ["will 3", "did 0"])
    try realm.write {
      realm.add(object)
      object.number = 4
    }
    #expect(object.log == ["will 3", "did 0", "will 4", "did 3"] && object.number == 4)
    #expect(Observed(value: ["number": 5]).log.isEmpty)
    try realm.write {
      let found = realm.objects(Observed.self)[0]
      found.number += 1
      #expect(found.log == ["will 5", "did 4"])
      #expect(realm.create(Observed.self, value: [9]).log.isEmpty)
    }
  }

  @Test("A class may be listed twice")
  func listedTwice() throws {
    let realm = try memoryRealm([Base.self, Base.self])
    try realm.write { realm.create(Base.self, value: [1]) }
    #expect(realm.objects(Base.self).count == 1)
  }
}
