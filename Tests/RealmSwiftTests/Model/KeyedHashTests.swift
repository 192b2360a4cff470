import Foundation
import RealmSwift
import RealmTestSupport
import Testing

class Voucher: Object {
  @Persisted(primaryKey: true) var code: String
}
class Slot: Object {
  @Persisted(primaryKey: true) var number: Int?
}
class Pass: Object {
  @Persisted(primaryKey: true) var id: UUID
}
class Badge: Object {
  @Persisted(primaryKey: true) var id: ObjectId
}

@Suite struct KeyedHashTests {
  private static let types: [ObjectBase.Type] = [
    Voucher.self, Slot.self, Pass.self, Badge.self, Person.self, Dog.self,
  ]

  private func objects() -> [Object] {
    (0..<25).flatMap { number -> [Object] in
      [
        Person(id: number, name: "\(number)", age: 1), Slot(value: number == 0 ? [:] : ["number": number]),
        Voucher(value: ["code": "code \(number)"]), Pass(), Badge(value: ["id": ObjectId.generate()]), Dog(),
      ]
    }
  }

  @Test
  func `an object is found in a set and a dictionary before it is added, afterwards, and when it is deleted`()
    throws
  {
    let realm = try memoryRealm(Self.types)
    let objects = objects()
    var set = Set(objects)
    var numbers = Dictionary(uniqueKeysWithValues: objects.enumerated().map { ($1, $0) })
    func areFound() -> Bool {
      objects.enumerated().allSatisfy { set.contains($1) && numbers[$1] == $0 }
    }
    #expect(areFound() && set.count == objects.count)
    try realm.write { realm.add(objects) }
    #expect(areFound())
    // The set and the dictionary place their elements again.
    set.reserveCapacity(5000)
    numbers.reserveCapacity(5000)
    #expect(areFound())
    let handles = Set(
      realm.objects(Person.self).map { $0 as Object } + realm.objects(Slot.self).map { $0 as Object })
    #expect(handles.isSubset(of: set), "other handles of the same rows are the same")
    try realm.write { realm.deleteAll() }
    #expect(objects.allSatisfy(\.isInvalidated) && areFound())
    set.reserveCapacity(50_000)
    #expect(areFound())
    for object in objects { set.remove(object) }
    #expect(set.isEmpty)
  }

  @Test func `an object stays in a set if its write is cancelled, or if its realm is invalidated`() throws {
    let realm = try memoryRealm(Self.types)
    let (first, second) = (Person(id: 1, name: "Ann", age: 3), Voucher(value: ["code": "x"]))
    let set: Set<Object> = [first, second]
    realm.beginWrite()
    realm.add(first)
    #expect(set.contains(first))
    realm.cancelWrite()
    #expect(first.isInvalidated && set.contains(first))
    try realm.write { realm.add(second) }
    #expect(set.contains(second))
    realm.invalidate()
    #expect(set.contains(second) && set.contains(first))
  }

  @Test(arguments: [false, true])
  func `an object that was hashed only before it was added is found when it is invalid`(
    _ isCancelled: Bool
  )
    throws
  {
    let realm = try memoryRealm(Self.types)
    let objects = objects()
    let set = Set(objects)
    realm.beginWrite()
    realm.add(objects)
    if isCancelled {
      realm.cancelWrite()
    } else {
      try realm.commitWrite()
      try realm.write { realm.deleteAll() }
    }
    #expect(objects.allSatisfy { $0.isInvalidated && set.contains($0) })
  }

  @Test func `an object keeps its hash when its row's number is given again, and so do other handles`() throws
  {
    let realm = try memoryRealm(Self.types)
    let first = Person(id: 1, name: "Ann", age: 3)
    realm.beginWrite()
    realm.add(first)
    let handle = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
    let hash = handle.hash
    #expect(first.hash == hash && Person(id: 1, name: "", age: 0).hash == hash)
    realm.cancelWrite()
    let second = Person(id: 2, name: "Bob", age: 3)
    // The key changes before the object is added.
    let third = Person(id: 9, name: "Cem", age: 3)
    _ = third.hash
    third.id = 3
    try realm.write { realm.add([second, third]) }
    #expect(second.hash == Person(id: 2, name: "", age: 0).hash && second.hash != hash)
    #expect(first.hash == hash && handle.hash == hash)
    let other = try #require(realm.object(ofType: Person.self, forPrimaryKey: 3))
    try realm.write { realm.deleteAll() }
    #expect(third.hash == Person(id: 3, name: "", age: 0).hash)
    #expect(
      other == third && other.hash == other.hash, "it was never asked before, and keeps what it answers")
  }

  @Test func `each object of a loop over results has its own hash`() throws {
    let realm = try memoryRealm(Self.types)
    try realm.write { for id in 0..<50 { realm.add(Person(id: id, name: "", age: 1)) } }
    var hashes = Set<Int>()
    for person in realm.objects(Person.self) { hashes.insert(person.hash) }
    #expect(hashes == Set((0..<50).map { Person(id: $0, name: "", age: 1).hash }) && hashes.count == 50)
  }

  @Test func `the hash of an object is that of its key, and different objects may have equal keys`() throws {
    let realm = try memoryRealm(Self.types)
    let (first, second) = (Voucher(value: ["code": "a"]), Voucher(value: ["code": "a"]))
    #expect(first.hash == second.hash && first != second)
    let (rex, max) = (Dog(), Dog())
    #expect(Slot().hash == Slot().hash && rex.hash != max.hash)
    try realm.write { realm.add(first) }
    #expect(first.hash == second.hash && first != second)
    #expect(realm.object(ofType: Voucher.self, forPrimaryKey: "a")?.hash == first.hash)
    #expect(realm.object(ofType: Voucher.self, forPrimaryKey: "a") == first)
    let (composed, decomposed) = (Voucher(value: ["code": "\u{e9}"]), Voucher(value: ["code": "e\u{301}"]))
    try realm.write { realm.add([composed, decomposed]) }
    #expect(composed != decomposed && composed.hash != decomposed.hash)
  }
}
