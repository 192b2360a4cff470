import Foundation
import RealmSwift
import Testing

@Suite("Objects")
struct ObjectTests {
  @Test("An unmanaged object holds its own values")
  func unmanaged() {
    let person = Person()
    #expect(person.realm == nil && !person.isInvalidated)
    #expect(person.id == 0 && person.name == "" && person.height == nil && person.mood == .calm)
    person.name = "Ann"
    person.dogs.append(Dog(value: ["name": "Rex"]))
    person.words.append(objectsIn: ["a", "b"])
    #expect(person.name == "Ann" && person.dogs.count == 1 && person.dogs[0].name == "Rex")
    #expect(Array(person.words) == ["a", "b"])
    let key = Everything().key
    #expect(key != Everything().key)
  }

  /// A class that links to no other object.
  final class Plain: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var small: Int32
    @Persisted var flag: Bool
    @Persisted var real: Double
    @Persisted var text: String
    @Persisted var moment: Date
    @Persisted var maybeNumber: Int?
    @Persisted var maybeReal: Double?
    @Persisted var maybeText: String?
    @Persisted var maybeMoment: Date?
    @Persisted(originProperty: "plain") var links: LinkingObjects<PlainLink>
  }

  final class PlainLink: Object {
    @Persisted var plain: Plain?
  }

  @Test("Objects without links are stored with their values, and nil is stored after an object with values")
  func addingPlainObjects() throws {
    let realm = try memoryRealm()
    func plain(_ id: Int) -> Plain {
      let plain = Plain()
      plain.id = id
      guard id % 2 == 0 else { return plain }
      (plain.small, plain.flag, plain.real, plain.text) = (Int32(-id), true, Double(id) / 4, "text \(id) – ü")
      plain.moment = Date(timeIntervalSince1970: Double(id) - 0.5)
      (plain.maybeNumber, plain.maybeReal, plain.maybeText) = (
        id << 40, -Double(id), String(repeating: "x", count: id)
      )
      plain.maybeMoment = Date(timeIntervalSince1970: -Double(id))
      return plain
    }
    let made = (0..<1_200).map { plain($0) }
    try realm.write { realm.add(made) }
    for (id, object) in made.enumerated() {
      let expected = plain(id)
      let found = try #require(realm.object(ofType: Plain.self, forPrimaryKey: id))
      for read in [object, found] {
        #expect(read.realm == realm && read.links.isEmpty)
        #expect(read.small == expected.small && read.flag == expected.flag && read.real == expected.real)
        #expect(read.text == expected.text && read.maybeNumber == expected.maybeNumber)
        #expect(read.maybeReal == expected.maybeReal && read.maybeText == expected.maybeText)
        #expect(read.maybeMoment == expected.maybeMoment)
        if id % 2 == 0 { #expect(read.moment == expected.moment) }
      }
    }
  }

  @Test("Adding makes the same instance managed, with all objects that it links to")
  func adding() throws {
    let realm = try memoryRealm()
    let person = Person(id: 1, name: "Ann", age: 30)
    let rex = Dog(value: ["name": "Rex"])
    let list = person.dogs
    person.dog = rex
    list.append(rex)
    list.append(Dog(value: ["name": "Ida"]))
    try realm.write { realm.add(person) }
    #expect(person.realm == realm && rex.realm == realm)
    #expect(person.dogs === list && list.realm == realm)
    #expect(person.dogs.map(\.name) == ["Rex", "Ida"])
    #expect(person.dog?.name == "Rex" && person.dog?.isSameObject(as: rex) == true)
    #expect(realm.objects(Dog.self).count == 2)
    #expect(Array(rex.people).map(\.name) == ["Ann"])
    try realm.write { person.age += 1 }
    #expect(realm.object(ofType: Person.self, forPrimaryKey: 1)?.age == 31)
  }

  @Test("Properties are read and set by their names")
  func keyed() throws {
    let realm = try memoryRealm()
    let object = Everything()
    func use() {
      object["int"] = Int8(5)
      object["optionalString"] = "x"
      object["mood"] = "merry"
      object["ints"] = [1, 2]
      #expect(object["int"] as? Int == 5 && object["optionalString"] as? String == "x")
      #expect(object.mood == .merry && Array(object.ints) == [1, 2])
      object["optionalString"] = nil
      #expect(object["optionalString"] == nil && object.optionalString == nil)
    }
    use()
    try realm.write {
      realm.add(object)
      use()
      let dog = Dog(value: ["name": "Rex"])
      object["int"] = 7
      dog["owner"] = Person(id: 1, name: "Ann", age: 3)
      realm.add(dog)
      dog["owner"] = nil
      #expect(dog.owner == nil && (dog["name"] as? String) == "Rex")
    }
    #expect(object["int"] as? Int == 7 && object["optionalDate"] == nil)
    // The list of this handle was never read.
    try realm.write { realm.objects(Everything.self)[0]["ints"] = [4] }
    #expect(Array(object.ints) == [4] && Array(realm.objects(Everything.self)[0].ints) == [4])
  }

  @Test("Every type of property keeps its value, in memory, in a file and encrypted")
  func everyType() throws {
    let file = TemporaryFile()
    var encrypted = TemporaryFile().configuration
    encrypted.encryptionKey = Data((0..<64).map { $0 })
    defer { try? FileManager.default.removeItem(at: encrypted.fileURL!) }
    for configuration in [file.configuration, encrypted] {
      let key = UUID()
      let someId = ObjectId("0123456789abcdef00ff8042")
      let when = Date(timeIntervalSince1970: 1_234_567.25)
      func fill(_ object: Everything) {
        object.bool = true
        (object.int, object.int8, object.int16) = (.min, .min, .max)
        (object.int32, object.int64) = (.min, .max)
        (object.float, object.double) = (1.5, -0.0)
        (object.string, object.data, object.date) = ("text", Data([1, 2]), when)
        (object.uuid, object.mood) = (key, .cross)
        (object.objectId, object.optionalObjectId) = (someId, someId)
        object.objectIds.append(objectsIn: [someId, ObjectId()])
        (object.decimal, object.optionalDecimal) = ("-1.50", .max)
        object.decimals.append(objectsIn: [0.1, .min, 7])
        (object.optionalBool, object.optionalInt, object.optionalString) = (false, 5, "")
        (object.optionalDate, object.optionalUUID, object.optionalMood) = (when, key, .merry)
        (object.optionalDouble, object.optionalFloat, object.optionalData) = (.infinity, 2, Data())
        object.bools.append(objectsIn: [true, false])
        object.ints.append(objectsIn: [1, .max, .min])
        object.doubles.append(0.1)
        object.datas.append(Data([9]))
        object.dates.append(when)
        object.uuids.append(key)
        object.moods.append(.merry)
        object.optionalStrings.append(objectsIn: ["a", nil, ""])
      }
      func check(_ object: Everything) {
        #expect(object.bool && object.int == .min && object.int8 == .min && object.int16 == .max)
        #expect(object.int32 == .min && object.int64 == .max && object.float == 1.5)
        #expect(object.double == 0 && object.double.sign == .minus)
        #expect(object.string == "text" && object.data == Data([1, 2]) && object.date == when)
        #expect(object.uuid == key && object.mood == .cross)
        #expect(object.objectId == someId && object.optionalObjectId == someId)
        #expect(Array(object.objectIds) == [someId, ObjectId()])
        #expect(object.decimal.stringValue == "-1.5" && object.optionalDecimal == .max)
        #expect(Array(object.decimals) == [0.1, .min, 7])
        #expect(object.optionalBool == false && object.optionalInt == 5 && object.optionalString == "")
        #expect(object.optionalDate == when && object.optionalUUID == key && object.optionalMood == .merry)
        #expect(
          object.optionalDouble == .infinity && object.optionalFloat == 2 && object.optionalData == Data())
        #expect(object.optionalInt8 == nil && object.optionalInt16 == nil && object.optionalInt32 == nil)
        #expect(object.optionalInt64 == nil)
        #expect(Array(object.bools) == [true, false] && Array(object.ints) == [1, .max, .min])
        #expect(Array(object.doubles) == [0.1] && Array(object.datas) == [Data([9])])
        #expect(
          Array(object.dates) == [when] && Array(object.uuids) == [key] && Array(object.moods) == [.merry])
        #expect(Array(object.optionalStrings) == ["a", nil, ""])
      }
      var id = UUID()
      try autoreleasing {
        let realm = try Realm(configuration: configuration)
        let added = Everything()
        fill(added)
        check(added)
        try realm.write { realm.add(added) }
        check(added)
        id = added.key
        try realm.write {
          let changed = realm.create(Everything.self)
          fill(changed)
          check(changed)
        }
      }
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Everything.self).count == 2)
      realm.objects(Everything.self).forEach(check)
      #expect(realm.object(ofType: Everything.self, forPrimaryKey: id)?.key == id)
    }
  }

  @Test("Objects that link in a circle and in a long chain are added")
  func circles() throws {
    let realm = try memoryRealm()
    let (first, second) = (Dog(value: ["name": "a"]), Dog(value: ["name": "b"]))
    first.friend = second
    second.friend = first
    let alone = Dog(value: ["name": "c"])
    alone.friend = alone
    let person = Person(id: 1, name: "p", age: 1)
    person.dogs.append(objectsIn: [first, alone])
    first.owner = person
    try realm.write { realm.add([first, alone]) }
    #expect(first.friend?.name == "b" && first.friend?.friend?.isSameObject(as: first) == true)
    #expect(alone.friend?.isSameObject(as: alone) == true)
    #expect(first.owner?.dogs.map(\.name) == ["a", "c"])
    #expect(alone.people.count == 1)

    let last = Dog()
    var head = last
    for _ in 0..<20_000 {
      let next = Dog()
      next.friend = head
      head = next
    }
    try realm.write { realm.add(head) }
    #expect(realm.objects(Dog.self).count == 20_004)
    // The objects are released one by one. A chain of unmanaged objects would be released all at once.
    #expect(head.friend?.friend != nil)
  }

  @Test("Deleting an object makes links to it nil, removes it from lists, and invalidates its handles")
  func deleting() throws {
    let realm = try memoryRealm()
    let person = Person(id: 1, name: "Ann", age: 1)
    let rex = Dog(value: ["name": "Rex"])
    person.dog = rex
    person.dogs.append(objectsIn: [rex, Dog(value: ["name": "Ida"]), rex])
    try realm.write { realm.add(person) }
    try realm.write { realm.delete(rex) }
    #expect(rex.isInvalidated)
    #expect(person.dog == nil && person.dogs.map(\.name) == ["Ida"])
    try realm.write { realm.delete(person) }
    try realm.write { realm.add(Person(id: 1, name: "Ann", age: 1)) }
    #expect(person.isInvalidated && realm.object(ofType: Person.self, forPrimaryKey: 1) != nil)
    #expect(realm.objects(Dog.self).count == 1)
    try realm.write { realm.deleteAll() }
    #expect(realm.isEmpty)
  }

  @Test("Cancelling a transaction restores everything, and makes the objects that it added invalid")
  func cancelling() throws {
    struct Stop: Error {}
    let realm = try memoryRealm()
    let person = Person(id: 1, name: "Ann", age: 1)
    try realm.write { realm.add(person) }
    let added = Person(id: 2, name: "Bob", age: 1)
    var found: Person?
    #expect(throws: Stop.self) {
      try realm.write {
        person.age = 5
        realm.add(added)
        found = realm.object(ofType: Person.self, forPrimaryKey: 2)
        #expect(realm.objects(Person.self).count == 2 && found?.name == "Bob")
        throw Stop()
      }
    }
    #expect(person.age == 1 && added.isInvalidated && found?.isInvalidated == true)
    #expect(realm.objects(Person.self).count == 1)
    try realm.write { realm.add(Person(id: 3, name: "Cy", age: 1)) }
    #expect(added.isInvalidated && found?.isInvalidated == true)
    realm.beginWrite()
    realm.add(Person(id: 4, name: "Di", age: 1))
    realm.cancelWrite()
    #expect(!realm.isInWriteTransaction && realm.objects(Person.self).count == 2)
  }

  @Test("An object may be created from a dictionary, an array or another object, and updated in part")
  func creating() throws {
    let realm = try memoryRealm()
    try realm.write {
      let person = realm.create(
        Person.self,
        value: [
          "id": 1, "name": "Ann", "dog": ["name": "Rex"], "dogs": [["name": "Ida"], ["Bob", 3]],
          "words": ["x"],
        ])
      #expect(person.name == "Ann" && person.dog?.name == "Rex" && person.age == 0)
      #expect(person.dogs.map(\.name) == ["Ida", "Bob"] && person.dogs[1].weight == 3)
      #expect(Array(person.words) == ["x"])
      realm.create(Person.self, value: ["id": 1, "age": 5], update: .modified)
      #expect(person.name == "Ann" && person.age == 5 && person.dogs.count == 2)
      realm.create(Person.self, value: [1, "Eve"], update: .all)
      #expect(person.name == "Eve" && person.age == 5)
      realm.add(Person(id: 1, name: "Ida", age: 0), update: .modified)
      #expect(person.name == "Ida" && person.age == 0 && person.dogs.isEmpty)
      let copy = realm.create(Dog.self, value: realm.objects(Dog.self).where { $0.name == "Bob" }[0])
      #expect(copy.weight == 3)
    }
    #expect(realm.objects(Person.self).count == 1)
  }

  @Test("A class's own properties belong to the instance, and its initializer runs for each handle")
  func ownProperties() throws {
    let realm = try memoryRealm()
    let visitor = Visitor()
    visitor.name = "Ann"
    visitor.greeting = "hi"
    try realm.write { realm.add(visitor) }
    #expect(visitor.greeting == "hi" && visitor.name == "Ann")
    let other = realm.objects(Visitor.self)[0]
    #expect(other.greeting == "hello" && other.number == 7 && other.name == "Ann")
  }

  @Test("Inherited properties come first, and each class has its own objects")
  func inheritance() throws {
    let realm = try memoryRealm()
    try realm.write { realm.create(Derived.self, value: [4, "t"]) }
    #expect(realm.objects(Derived.self)[0].id == 4 && realm.objects(Derived.self)[0].title == "t")
    #expect(realm.objects(Base.self).isEmpty)
    #expect(Nested.Inner.className() == "Inner")
  }

  @Test("Objects with a primary key are equal if they show the same row")
  func equality() throws {
    let realm = try memoryRealm()
    let person = Person(id: 1, name: "a", age: 1)
    let dog = Dog()
    #expect(person != Person(id: 1, name: "a", age: 1))
    try realm.write {
      realm.add([person]); realm.add(dog)
    }
    let again = realm.objects(Person.self)[0]
    #expect(person == again && person.hash == again.hash && Set([person, again]).count == 1)
    #expect(dog != realm.objects(Dog.self)[0] && dog.isSameObject(as: realm.objects(Dog.self)[0]))
  }

  @Test("A description lists the properties")
  func descriptions() throws {
    let dog = Dog(value: ["name": "Rex"])
    #expect(
      dog.description
        == "Dog {\n\tname = Rex;\n\tweight = 0.0;\n\towner = (null);\n\tfriend = (null);\n}")
    let person = Person(id: 1, name: "Ann", age: 2)
    person.dogs.append(dog)
    #expect(person.description.contains("isMember = 0;"))
    #expect(person.description.contains("[0] Dog {"))
  }
}

/// Calls `body` so that the temporary objects that it leaves are gone when this function returns.
@inline(never)
func autoreleasing<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }
