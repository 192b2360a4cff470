import Foundation
import RealmSwift
import RealmTestSupport
import Testing

class Box: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var any: AnyRealmValue
  @Persisted var list: List<AnyRealmValue>
  @Persisted var set: MutableSet<AnyRealmValue>
  @Persisted var map: Map<String, AnyRealmValue>
}

private let types: [ObjectBase.Type] = [Box.self, Dog.self, Person.self]

private func box(_ realm: Realm, _ id: Int = 1) throws -> Box {
  let box = Box(value: ["id": id])
  try realm.write { realm.add(box) }
  return box
}

@Suite struct AnyRealmValueTests {
  static var simple: [AnyRealmValue] {
    [
      .none, .int(-3), .bool(true), .float(1.5), .double(-0.25), .string("é"), .data(Data([0, 255])),
      .date(Date(timeIntervalSince1970: 1.5)), .objectId(ObjectId("64b7f1c2a1b2c3d4e5f60718")),
      .decimal128(Decimal128("1.10")), .uuid(UUID(uuidString: "12345678-1234-5678-1234-567812345678")!),
    ]
  }

  @Test func `each type is read as it was written, alone, in collections and after the file is opened again`()
    throws
  {
    let file = TemporaryFile()
    let configuration = Realm.Configuration(
      fileURL: file.url, encryptionKey: Data(repeating: 7, count: 64), objectTypes: types)
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        for (id, value) in Self.simple.enumerated() {
          let box = Box(value: ["id": id])
          box.any = value
          #expect(box.any == value)
          box.list.append(objectsIn: [value, .none, value])
          box.set.insert(objectsIn: [value, value])
          box.map["k"] = value
          realm.add(box)
        }
      }
    }
    let realm = try Realm(configuration: configuration)
    for (id, value) in Self.simple.enumerated() {
      let box = try #require(realm.object(ofType: Box.self, forPrimaryKey: id))
      #expect(box.any == value && Array(box.list) == [value, .none, value] && Array(box.set) == [value])
      #expect(box.map["k"] == value)
    }
    try realm.verify()
  }

  @Test func `a value has only the property of its own type`() {
    let (int, bool, float, double) = (Self.simple[1], Self.simple[2], Self.simple[3], Self.simple[4])
    #expect(int.intValue == -3 && int.doubleValue == nil && bool.boolValue == true && bool.intValue == nil)
    #expect(float.floatValue == 1.5 && double.doubleValue == -0.25 && Self.simple[5].stringValue == "é")
    #expect(Self.simple[6].dataValue?.count == 2 && Self.simple[7].dateValue?.timeIntervalSince1970 == 1.5)
    #expect(Self.simple[8].objectIdValue?.stringValue == "64b7f1c2a1b2c3d4e5f60718")
    #expect(Self.simple[9].decimal128Value == 1.1 && Self.simple[10].uuidValue != nil)
    #expect(AnyRealmValue() == .none && Set(Self.simple).count == Self.simple.count)
    #expect(AnyRealmValue.fromArray([.int(1)]) == .fromArray([.int(1)]))
    #expect(AnyRealmValue.fromDictionary(["a": .none]).dictionaryValue?.keys == ["a"])
  }

  @Test func `objects of any class are linked to, and added`() throws {
    let realm = try memoryRealm(types)
    let holder = Box(value: ["id": 1])
    let rex = Dog(value: ["name": "Rex"])
    holder.any = .object(rex)
    holder.list.append(objectsIn: [.object(rex), .object(Person(id: 9, name: "Ann", age: 3)), .int(1)])
    holder.map["a"] = .fromArray([.object(Dog(value: ["name": "Max"]))])
    try realm.write { realm.add(holder) }
    #expect(rex.realm != nil && realm.objects(Dog.self).count == 2 && realm.objects(Person.self).count == 1)
    #expect(holder.any.object(Dog.self)?.name == "Rex" && holder.any.object(Person.self) == nil)
    #expect(holder.list[1].object(Person.self)?.name == "Ann")
    #expect(holder.map["a"]?.listValue?[0].object(Dog.self)?.name == "Max")
    try realm.verify()
    try realm.write { holder.any = .object(Person(id: 10, name: "Bob", age: 4)) }
    #expect(holder.any.object(Person.self)?.name == "Bob")
    try realm.write { realm.delete(realm.objects(Dog.self)) }
    #expect(holder.list[0] == .none && holder.list[1].object(Person.self) != nil)
    #expect(holder.list.count == 3 && holder.map["a"]?.listValue?.first == AnyRealmValue.none)
    try realm.write { realm.deleteAll() }
    try realm.verify()
  }

  @Test func `nested lists and dictionaries are changed in place`() throws {
    let realm = try memoryRealm(types)
    let holder = try box(realm)
    try realm.write {
      holder.any = .fromDictionary(["a": .fromArray([.int(1), .fromDictionary(["b": .string("x")])])])
    }
    let inner = try #require(holder.any.dictionaryValue?["a"]?.listValue)
    let deepest = try #require(inner[1].dictionaryValue)
    try realm.write {
      inner.append(.bool(true))
      deepest["b"] = .string("y")
      deepest["c"] = .fromArray([])
      deepest["c"]?.listValue?.append(.int(7))
      #expect(deepest["c"]?.listValue?.count == 1)
    }
    let read = try #require(holder.any.dictionaryValue?["a"]?.listValue)
    #expect(read.count == 3 && read[2] == .bool(true) && read == inner)
    #expect(read[1].dictionaryValue?["b"] == .string("y"))
    #expect(read[1].dictionaryValue?["c"]?.listValue?.first == .int(7))
    try realm.write {
      holder.list.append(.fromArray([.int(1)]))
      holder.list[0].listValue?.insert(.int(0), at: 0)
      holder.map["m"] = .fromDictionary([:])
      holder.map["m"]?.dictionaryValue?["z"] = .double(2)
    }
    #expect(holder.list[0].listValue?.map(\.intValue) == [0, 1])
    #expect(holder.map["m"]?.dictionaryValue?["z"] == .double(2))
    try realm.verify()
  }

  @Test func `a collection that is replaced is invalidated`() throws {
    let realm = try memoryRealm(types)
    let holder = try box(realm)
    try realm.write { holder.any = .fromArray([.int(1), .fromArray([.int(2)])]) }
    let (outer, inner) = (
      try #require(holder.any.listValue), try #require(holder.any.listValue?[1].listValue)
    )
    try realm.write {
      outer.append(.int(3))
      holder.any = .int(5)
      #expect(outer.isInvalidated && inner.isInvalidated && holder.any == .int(5))
    }
    #expect(holder.any == .int(5) && outer.isInvalidated && inner.isInvalidated)
    realm.beginWrite()
    holder.any = .fromDictionary(["a": .int(1)])
    holder.any.dictionaryValue?["a"] = .int(2)
    realm.cancelWrite()
    #expect(holder.any == .int(5))
  }

  @Test func `a nested collection stays the same if others are put before it, and goes with its element`()
    throws
  {
    let realm = try memoryRealm(types)
    let holder = try box(realm)
    try realm.write { holder.list.append(objectsIn: [.fromArray([.int(1)]), .fromArray([.int(2)])]) }
    let (first, second) = (try #require(holder.list[0].listValue), try #require(holder.list[1].listValue))
    try realm.write {
      holder.list.append(.none)
      first.append(.int(10))
      holder.list.insert(.fromArray([]), at: 0)
      first.append(.int(11))
      holder.list.move(from: 1, to: 3)
      second.insert(.int(0), at: 0)
      #expect(first.map(\.intValue) == [1, 10, 11] && second.map(\.intValue) == [0, 2])
    }
    #expect(holder.list[3].listValue == first && holder.list[1].listValue == second)
    try realm.write { holder.list.remove(at: 3) }
    #expect(first.isInvalidated && !second.isInvalidated && second.map(\.intValue) == [0, 2])
    try realm.write { holder.list[1] = .fromArray([.int(0), .int(2)]) }
    #expect(!second.isInvalidated, "the value that is there already changes nothing")
    try realm.write { holder.list[1] = .fromArray([.int(0)]) }
    #expect(second.isInvalidated)
    try realm.verify()
  }

  @Test func `a handle of a list that another list has replaced shows nothing of the new list`() throws {
    let realm = try memoryRealm(types)
    let holder = try box(realm)
    try realm.write {
      holder.any = .fromArray([.int(1)])
      holder.map["k"] = .fromDictionary(["a": .int(1)])
    }
    let (list, map) = (try #require(holder.any.listValue), try #require(holder.map["k"]?.dictionaryValue))
    try realm.write {
      holder.any = .fromArray([.int(2)])
      holder.map["j"] = holder.map["k"]
      holder.map["k"] = AnyRealmValue.none
      #expect(list.isInvalidated && map.isInvalidated)
    }
    #expect(list.isInvalidated && map.isInvalidated && holder.any.listValue?.first == .int(2))
    #expect(holder.map["j"]?.dictionaryValue?["a"] == .int(1))
    try realm.verify()
  }

  @Test func `a list of a cancelled transaction shows nothing of a later list`() throws {
    let realm = try memoryRealm(types)
    let holder = try box(realm)
    realm.beginWrite()
    holder.any = .fromArray([.int(1)])
    holder.list.append(.fromArray([.int(1)]))
    let stale = [try #require(holder.any.listValue), try #require(holder.list[0].listValue)]
    realm.cancelWrite()
    #expect(stale.allSatisfy { $0.isInvalidated })
    try realm.write {
      holder.any = .fromArray([.int(7)])
      holder.list.append(.fromArray([.int(7)]))
      #expect(stale.allSatisfy { $0.isInvalidated })
    }
    #expect(stale.allSatisfy { $0.isInvalidated })
    try realm.verify()
  }

  @Test func `equal nested lists change places`() throws {
    let realm = try memoryRealm(types)
    let holder = try box(realm)
    try realm.write {
      holder.list.append(objectsIn: [.fromArray([]), .fromArray([])])
      let first = try #require(holder.list[0].listValue)
      holder.list.swapAt(0, 1)
      first.append(.int(1))
      #expect(holder.list[0].listValue?.count == 0 && holder.list[1].listValue == first)
      holder.list.reverse()
      holder.list.append(.fromArray([.int(1)]))
      holder.list.swapAt(0, 2)
      #expect(holder.list[2].listValue == first)
    }
    try realm.verify()
  }

  @Test func `a loop shows later elements with the changes that the loop has made`() throws {
    let realm = try memoryRealm(types)
    let holder = try box(realm)
    let count = 2000
    try realm.write { for _ in 0..<count { holder.list.append(.fromArray([])) } }
    var seen = 0
    for value in holder.list {
      if seen == 0 { try realm.write { holder.list[count - 1].listValue?.append(.int(1)) } }
      seen += 1
      #expect(value.listValue?.count == (seen == count ? 1 : 0))
    }
    try realm.write {
      for value in holder.list {
        if seen % 2 == 0 { holder.list.remove(at: 0) } else { value.listValue?.append(.int(2)) }
        seen += 1
      }
    }
    #expect(holder.list.count == count / 2)
    // Each element was visited before it was removed.
    #expect(holder.list.count { $0.listValue?.contains(.int(2)) == true } == count / 4)
    try realm.verify()
  }

  @Test func `changes of many nested collections are kept by a commit, and undone by a cancel`() throws {
    let realm = try memoryRealm(types)
    try realm.write {
      for id in 0..<200 {
        let box = realm.create(Box.self, value: ["id": id])
        box.list.append(.fromArray([]))
        box.any = .fromDictionary(["n": .fromArray([])])
      }
    }
    let boxes = Array(realm.objects(Box.self))
    func change() {
      for round in 0..<3 {
        for box in boxes {
          box.list[0].listValue?.append(.int(round))
          box.any.dictionaryValue?["n"]?.listValue?.append(.int(round))
        }
      }
    }
    realm.beginWrite()
    change()
    realm.cancelWrite()
    #expect(boxes.allSatisfy { $0.list[0].listValue?.isEmpty == true })
    try realm.write { change() }
    for box in boxes {
      #expect(box.list[0].listValue?.map(\.intValue) == [0, 1, 2])
      #expect(box.any.dictionaryValue?["n"]?.listValue?.map(\.intValue) == [0, 1, 2])
    }
    try realm.verify()
  }

  @Test func `objects in collections of another realm are reported, and are copied by create`() throws {
    let (realm, other) = (try memoryRealm(types), try memoryRealm(types))
    let holder = try box(realm)
    try realm.write { holder.any = .fromArray([.object(Dog(value: ["name": "Rex"]))]) }
    try other.write { other.create(Dog.self, value: ["name": "Max"]) }
    try other.write { other.create(Box.self, value: ["id": 3, "any": holder.any]) }
    let copy = try #require(other.object(ofType: Box.self, forPrimaryKey: 3))
    #expect(copy.any.listValue?[0].object(Dog.self)?.name == "Rex" && other.objects(Dog.self).count == 2)
    MisuseTests().expectStop(["Object of another realm", "Dog"]) {
      let (realm, other) = (try! memoryRealm(types), try! memoryRealm(types))
      let copy = Box()
      try! realm.write {
        realm.create(Box.self).any = .fromArray([.object(Dog())])
        copy.any = realm.objects(Box.self)[0].any
      }
      try! other.write {
        other.create(Dog.self)
        other.add(copy)
      }
    }
  }

  @Test func `an assignment copies a list, and a copied object has a list of its own`() throws {
    let (realm, other) = (try memoryRealm(types), try memoryRealm(types))
    let (one, two) = (try box(realm, 1), try box(realm, 2))
    try realm.write {
      one.any = .fromArray([.int(1), .object(Dog(value: ["name": "Rex"]))])
      two.any = one.any
      one.any.listValue?.removeAll()
    }
    #expect(one.any.listValue?.count == 0 && two.any.listValue?.count == 2)
    let copy = Box(value: two)
    #expect(copy.any.listValue?.realm == nil && copy.any.listValue?.first == .int(1))
    try other.write { other.create(Box.self, value: two) }
    let foreign = try #require(other.object(ofType: Box.self, forPrimaryKey: 2))
    #expect(foreign.any.listValue?[1].object(Dog.self)?.name == "Rex")
    #expect(foreign.any.listValue?[1].object(Dog.self)?.realm == other)
    try other.verify()
  }

  @Test func `values that are given as Any get the type of their content`() throws {
    let table: [(Any, AnyRealmValue)] = [
      (NSNull(), .none), (Int?.none as Any, .none), (5, .int(5)), (UInt8(5), .int(5)), (true, .bool(true)),
      (1.5, .double(1.5)), (Float(1.5), .float(1.5)), ("x", .string("x")), (Data([1]), .data(Data([1]))),
      (NSNumber(value: 7), .int(7)), (NSNumber(value: 7.5), .double(7.5)),
      (NSNumber(value: true), .bool(true)),
      ([1, "a"] as [Any], .fromArray([.int(1), .string("a")])),
      (["k": [true]] as [String: Any], .fromDictionary(["k": .fromArray([.bool(true)])])),
      (AnyRealmValue.int(3), .int(3)), (Optional(3) as Any, .int(3)),
    ]
    for (any, expected) in table { #expect(Box(value: ["any": any]).any == expected, "\(any)") }
    let filled = Box(
      value: [
        "list": [1, "a", NSNull()] as [Any], "map": ["a": 1, "b": [2]] as [String: Any], "set": [1, 1],
      ] as [String: Any])
    #expect(Array(filled.list) == [.int(1), .string("a"), .none] && Array(filled.set) == [.int(1)])
    #expect(filled.map["b"]?.listValue?.first == .int(2))
    filled["any"] = 4
    #expect(filled.any == .int(4) && filled["any"] as? Int == 4)
    filled["any"] = nil
    #expect(filled.any == .none && filled["any"] == nil)
  }

  @Test func `values are found by queries, and numbers by their value`() throws {
    let realm = try memoryRealm(types)
    let rex = Dog(value: ["name": "Rex"])
    try realm.write {
      for (id, value) in Self.simple.enumerated() { realm.create(Box.self, value: [id, value]) }
      realm.create(Box.self, value: [100, AnyRealmValue.object(rex)] as [Any])
    }
    let rex2 = try #require(realm.objects(Dog.self).first)
    func found(_ value: AnyRealmValue) -> [Int] {
      realm.objects(Box.self).where { $0.any == value }.map(\.id).sorted()
    }
    for (id, value) in Self.simple.enumerated() { #expect(found(value) == [id]) }
    #expect(found(.double(-3)) == [1] && found(.object(rex2)) == [100] && found(.string("e")) == [])
    #expect(realm.objects(Box.self).where { $0.any > .double(1) }.map(\.id).sorted() == [3, 9])
    #expect(realm.objects(Box.self).sorted(byKeyPath: "any").first?.id == 0)
  }

  @Test func `a list of values finds numbers by value, and is described by its content`() throws {
    let realm = try memoryRealm(types)
    let holder = try box(realm)
    try realm.write {
      holder.list.append(objectsIn: [.int(1), .double(2), .string("x"), .none])
      holder.any = .fromArray([.int(1)])
    }
    #expect(holder.list.index(of: .double(1)) == 0 && holder.list.index(of: .int(2)) == 1)
    #expect(holder.list.index(of: .none) == 3 && holder.list.index(of: .int(9)) == nil)
    #expect(holder.description.contains("any = List<AnyRealmValue> (\n\t\t[0] 1\n\t);"))
    #expect(holder.objectSchema["any"]?.type == .any && holder.objectSchema["any"]?.isOptional == false)
  }

  @Test(arguments: 0..<6)
  func `random changes of nested values agree with plain ones`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let realm = try memoryRealm(types)
    let (managed, plain) = (try box(realm), Box())
    func random(_ levels: Int) -> AnyRealmValue {
      switch generator.below(levels > 0 ? 6 : 4) {
      case 0: .none
      case 1: .int(generator.below(5))
      case 2: .string("\(generator.below(5))")
      case 3: .bool(generator.chance(50))
      case 4: .fromArray((0..<generator.below(4)).map { _ in random(levels - 1) })
      default:
        .fromDictionary(
          Dictionary((0..<generator.below(3)).map { ("k\($0)", random(levels - 1)) }) { first, _ in first })
      }
    }
    /// Makes the same change in both values, at the place that the same choices lead to.
    func change(_ pair: [AnyRealmValue], _ choices: [Int], _ new: AnyRealmValue) -> Bool {
      var (lists, maps) = (pair.compactMap(\.listValue), pair.compactMap(\.dictionaryValue))
      for choice in choices {
        var next: [AnyRealmValue] = []
        if lists.count == 2, lists[0].count > 0 { next = lists.map { $0[choice % $0.count] } }
        if maps.count == 2, let key = maps[0].keys.first { next = maps.compactMap { $0[key] } }
        let (innerLists, innerMaps) = (next.compactMap(\.listValue), next.compactMap(\.dictionaryValue))
        if innerLists.count + innerMaps.count < 2 { break }
        (lists, maps) = (innerLists, innerMaps)
      }
      for list in lists {
        if list.count > 2 { list.remove(at: 0) } else { list.append(new) }
      }
      for map in maps { map["n\(choices[0] % 3)"] = new }
      return lists.count + maps.count == 2
    }
    for _ in 0..<80 {
      let new = random(2)
      let choices = (0..<3).map { _ in generator.below(9) }
      let isReplaced = generator.chance(30)
      realm.beginWrite()
      if isReplaced || !change([managed.any, plain.any], choices, new) {
        let value = random(3)
        managed.any = value
        plain.any = value
      }
      try realm.commitWrite()
      // The plain object holds the instance that was set, and the managed object holds a copy.
      #expect(Box(value: managed).any == plain.any, "seed \(seed)")
    }
    try realm.verify()
  }
}

extension MisuseTests {
  @Test func `a value that holds itself stops the program`() throws {
    expectStop(["Invalid value", "100 deep"]) {
      let realm = try! memoryRealm(types)
      let list = List<AnyRealmValue>()
      list.append(.list(list))
      try! realm.write { realm.create(Box.self).any = .list(list) }
    }
    expectStop(["Invalid value", "Box.set", "List of AnyRealmValue"]) {
      let realm = try! memoryRealm(types)
      try! realm.write { realm.create(Box.self).set.insert(.fromArray([.int(1)])) }
    }
    expectStop(["Invalid value", "Box.set"]) {
      let realm = try! memoryRealm(types)
      let box = Box()
      box.set.insert(.fromArray([]))
      try! realm.write { realm.add(box) }
    }
    expectStop(["Invalid value", "Box.any", "100 deep"]) {
      let realm = try! memoryRealm(types)
      try! realm.write {
        let box = realm.create(Box.self, value: ["any": [Any]()])
        var list = box.any.listValue!
        for _ in 0..<200 {
          list.append(.fromArray([]))
          list = list[0].listValue!
        }
      }
    }
    expectStop(["Invalidated collection", "Box.any"]) {
      let realm = try! memoryRealm(types)
      try! realm.write {
        let box = realm.create(Box.self)
        box.any = .fromArray([])
        let list = box.any.listValue!
        box.any = .int(1)
        list.append(.int(1))
      }
    }
    expectStop(["Not in a write transaction", "Box.any"]) {
      let realm = try! memoryRealm(types)
      var box: Box!
      try! realm.write { box = realm.create(Box.self, value: ["any": [1]]) }
      box.any.listValue?.append(.int(1))
    }
  }
}
