import Foundation
import RealmStorage
import RealmSwift
import Testing

private class Lane: EmbeddedObject {
  @Persisted var name = ""
}

private class Resident: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var nick: String?
  @Persisted var height: Double?
  @Persisted var friend: Resident?
  @Persisted var friends: List<Resident>
  @Persisted var enemies: MutableSet<Resident>
  @Persisted var byRole: Map<String, Resident?>
  @Persisted var words: List<String>
  @Persisted var marks: MutableSet<Int>
  @Persisted var counts: Map<String, Int>
  @Persisted var any: AnyRealmValue
  @Persisted var street: Lane?
  @Persisted var streets: List<Lane>
  @Persisted var mood = Mood.calm

  override class func propertiesMapping() -> [String: String] { ["nick": "short_name"] }
}

/// Objects of a file that the program has no classes for, or that are used without them.
@Suite struct DynamicObjectTests {
  private static let types: [ObjectBase.Type] = [Resident.self, Lane.self]

  private static func filled() throws -> TemporaryFile {
    let file = TemporaryFile()
    let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: types))
    try realm.write {
      let anna = realm.create(
        Resident.self,
        value: [
          "id": 1, "name": "Anna", "nick": "An", "height": 1.7, "words": ["a", "b"], "marks": [1, 2],
          "counts": ["x": 4], "any": 5, "street": ["name": "Main"],
          "streets": [["name": "S1"], ["name": "S2"]],
          "mood": "merry",
        ])
      let bob = realm.create(Resident.self, value: ["id": 2, "name": "Bob"])
      anna.friend = bob
      anna.friends.append(objectsIn: [bob, anna])
      anna.enemies.insert(bob)
      anna.byRole["boss"] = bob
      bob.any = .object(anna)
    }
    return file
  }

  /// A realm of the file that was opened without classes of the program.
  private static func bare(_ file: TemporaryFile) throws -> Realm {
    try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: []))
  }

  @Test func `every kind of property is read by its name without a class`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    let realm = try Self.bare(file)
    let anna = try #require(realm.dynamicObject(ofType: "Resident", forPrimaryKey: 1))
    #expect(anna["id"] as? Int == 1)
    #expect(anna.name as? String == "Anna")
    #expect(anna["short_name"] as? String == "An")
    #expect(anna["height"] as? Double == 1.7)
    #expect(anna["mood"] as? String == "merry")
    #expect((anna["friend"] as? DynamicObject)?.name as? String == "Bob")
    #expect((anna["friends"] as? List<DynamicObject>)?.map { $0["id"] as? Int } == [2, 1])
    #expect((anna["enemies"] as? MutableSet<DynamicObject>)?.map { $0["id"] as? Int } == [2])
    #expect((anna["byRole"] as? Map<String, DynamicObject?>)?["boss"]??.name as? String == "Bob")
    #expect((anna["words"] as? List<String>).map { Array($0) } == ["a", "b"])
    #expect((anna["marks"] as? MutableSet<Int>).map { Set($0) } == [1, 2])
    #expect((anna["counts"] as? Map<String, Int>)?["x"] == 4)
    #expect(anna["any"] as? Int == 5)
    #expect((anna["street"] as? DynamicObject)?.name as? String == "Main")
    #expect((anna["streets"] as? List<DynamicObject>)?.map { $0["name"] as? String } == ["S1", "S2"])
    let bob = try #require(anna["friend"] as? DynamicObject)
    #expect(bob["height"] == nil && bob["friend"] == nil && bob["street"] == nil)
    #expect((bob["any"] as? DynamicObject)?.name as? String == "Anna")
    #expect(anna.description.contains("name = Anna") && anna.description.hasPrefix("Resident {"))
    #expect(realm.dynamicObject(ofType: "Resident", forPrimaryKey: 3) == nil)
  }

  @Test func `the schema of a realm without classes is that of its file`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    let realm = try Self.bare(file)
    let resident = try #require(realm.schema["Resident"])
    #expect(ObjectIdentifier(resident.objectClass) == ObjectIdentifier(DynamicObject.self))
    #expect(resident.primaryKeyProperty?.name == "id")
    #expect(resident["short_name"]?.isOptional == true && resident["nick"] == nil)
    #expect(resident["friends"]?.isArray == true && resident["friends"]?.objectClassName == "Resident")
    #expect(realm.schema["Lane"]?.isEmbedded == true)
    let anna = try #require(realm.dynamicObjects("Resident").first)
    #expect(anna.objectSchema == resident)
    let none: ObjectSchema? = DynamicObject.sharedSchema()
    #expect(none == nil)
    #expect(Resident.sharedSchema()?["nick"]?.columnName == "short_name")
  }

  @Test func `objects are made, changed and deleted without a class`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    do {
      let realm = try Self.bare(file)
      try realm.write {
        let carl = realm.dynamicCreate(
          "Resident",
          value: [
            "id": 3, "name": "Carl", "friends": [["id": 4, "name": "Dora"]], "words": ["c"],
            "street": ["name": "Side"], "byRole": ["x": ["id": 5]], "any": ["a": [1, 2]],
          ])
        carl["height"] = 2.0
        carl.name = "Karl"
        carl["friend"] = realm.dynamicObject(ofType: "Resident", forPrimaryKey: 1)
        carl["streets"] = [["name": "T1"]]
        (carl["marks"] as? MutableSet<Int>)?.insert(9)
        let anna = realm.dynamicObject(ofType: "Resident", forPrimaryKey: 1)
        anna?["height"] = nil
        anna?["street"] = nil
        (anna?["friends"] as? List<DynamicObject>)?.append(carl)
        realm.dynamicCreate("Resident", value: ["id": 2, "name": "Bill"], update: .modified)
        if let dora = realm.dynamicObject(ofType: "Resident", forPrimaryKey: 4) { realm.delete(dora) }
      }
    }
    let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: Self.types))
    let carl = try #require(realm.object(ofType: Resident.self, forPrimaryKey: 3))
    #expect(carl.name == "Karl" && carl.height == 2 && carl.friend?.name == "Anna")
    // Objects that are made without their class do not get the defaults of the class.
    #expect(carl["mood"] as? String == "")
    #expect(carl.friends.isEmpty && Array(carl.words) == ["c"] && carl.street?.name == "Side")
    #expect(carl.streets.map(\.name) == ["T1"] && Array(carl.marks) == [9])
    #expect(carl.byRole["x"]??.id == 5)
    #expect(carl.any.dictionaryValue?["a"]?.listValue.map { Array($0) } == [.int(1), .int(2)])
    let anna = try #require(realm.object(ofType: Resident.self, forPrimaryKey: 1))
    #expect(anna.height == nil && anna.street == nil && anna.friends.map(\.id) == [2, 1, 3])
    let bill = try #require(realm.object(ofType: Resident.self, forPrimaryKey: 2))
    #expect(bill.name == "Bill" && bill.any.object(Resident.self)?.id == 1)
    try realm.verify()
  }

  @Test func `dynamic objects and objects of a class share their rows`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: Self.types))
    let anna = try #require(realm.object(ofType: Resident.self, forPrimaryKey: 1))
    let dynamic = try #require(realm.dynamicObjects("Resident").filter("name == %@", "Anna").first)
    #expect(dynamic.isSameObject(as: anna))
    #expect(anna.dynamicList("friends").map { $0["name"] as? String } == ["Bob", "Anna"])
    #expect(anna.dynamicMutableSet("enemies").count == 1)
    let byRole: Map<String, DynamicObject?> = anna.dynamicMap("byRole")
    #expect(byRole["boss"]??.name as? String == "Bob")
    #expect(anna.friend?.any.dynamicObject?.name as? String == "Anna")
    try realm.write {
      // A managed object of the class stands for the dynamic object of its row, and an unmanaged object is copied.
      dynamic["friend"] = anna
      dynamic["friends"] = [Resident(value: ["id": 7, "name": "Gina", "nick": "G"]), anna]
    }
    #expect(anna.friend?.id == 1)
    #expect(anna.friends.map(\.id) == [7, 1] && anna.friends[0].nick == "G")
    let frozen = dynamic.freeze()
    try realm.write { dynamic.name = "Anne" }
    #expect(
      frozen.name as? String == "Anna" && frozen.thaw()?.name as? String == "Anne" && anna.name == "Anne")
  }

  @Test func `queries, sorts and aggregates use the stored names of properties`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    let realm = try Self.bare(file)
    let all = realm.dynamicObjects("Resident")
    #expect(all.count == 2)
    #expect(all.filter("short_name == %@", "An").count == 1)
    #expect(all.filter("ANY friends.name == 'Bob'").map { $0["id"] as? Int } == [1])
    #expect(try all.query("friend.name == $0 SORT(id DESC)", "Bob").count == 1)
    #expect(all.sorted(byKeyPath: "name", ascending: false).map { $0["name"] as? String } == ["Bob", "Anna"])
    #expect(all.sorted(byKeyPath: "friend.name").count == 2)
    #expect(all.sum(ofProperty: "id") as Int == 3)
    let bob = try #require(all.filter("id == 2").first)
    #expect(all.filter("friend == %@", bob).map { $0["id"] as? Int } == [1])
  }

  @Test func `observers hear of changes of dynamic objects`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    let heard = Heard<String>()
    let queue = DispatchQueue(label: "dynamic")
    let tokens = try queue.sync {
      let realm = try Realm(
        configuration: Realm.Configuration(fileURL: file.url, objectTypes: []), queue: queue)
      let anna = try #require(realm.dynamicObject(ofType: "Resident", forPrimaryKey: 1))
      return [
        anna.observe { (change: ObjectChange<DynamicObject>) in
          guard case .change(_, let properties) = change else { return }
          for property in properties { heard.add("\(property.name) \(property.newValue ?? "nil")") }
        },
        realm.dynamicObjects("Resident").observe { change in
          switch change {
          case .initial: heard.add("first")
          case .update(_, _, let insertions, _): heard.add("inserted \(insertions.count)")
          case .error: break
          }
        },
      ]
    }
    #expect(heard.wait(1) == ["first"])
    do {
      let realm = try Self.bare(file)
      try realm.write {
        realm.dynamicObject(ofType: "Resident", forPrimaryKey: 1)?["name"] = "Anne"
        realm.dynamicCreate("Resident", value: ["id": 9])
      }
    }
    #expect(Set(heard.wait(3)) == ["first", "name Anne", "inserted 1"])
    queue.sync { for token in tokens { token.invalidate() } }
  }

  @Test func `a class that is added later can be used by its name`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    let realm = try Self.bare(file)
    #expect(realm.dynamicObjects("Resident").count == 2)
    let other = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: [Base.self]))
    try other.write { other.create(Base.self, value: ["id": 8]) }
    #expect(realm.dynamicObjects("Base").first?["id"] as? Int == 8)
    #expect(realm.dynamicObjects("Resident").count == 2)
  }

  @Test func `a file opens without classes, whatever its schema version is`() throws {
    let file = TemporaryFile()
    do {
      let configuration = Realm.Configuration(fileURL: file.url, schemaVersion: 7, objectTypes: [Base.self])
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.create(Base.self, value: ["id": 8]) }
    }
    let bare = try Self.bare(file)
    #expect(bare.dynamicObjects("Base").count == 1)
    try bare.write { bare.dynamicCreate("Base", value: ["id": 9]) }
    let typed = Realm.Configuration(fileURL: file.url, schemaVersion: 7, objectTypes: [Base.self])
    #expect(try Realm(configuration: typed).objects(Base.self).count == 2)
  }

  @Test func `the values of any type of Everything are read as they are stored`() throws {
    let file = TemporaryFile()
    let realm = try Realm(
      configuration: Realm.Configuration(fileURL: file.url, objectTypes: [Everything.self]))
    let everything = Everything()
    everything.string = "text"
    everything.optionalInt8 = 3
    everything.dates.append(Date(timeIntervalSince1970: 5))
    everything.optionalStrings.append(objectsIn: ["a", nil])
    try realm.write { realm.add(everything) }
    let dynamic = try #require(realm.dynamicObjects("Everything").first)
    for property in everything.objectSchema.properties {
      let (typed, found) = (everything[property.name], dynamic[property.name])
      #expect((typed == nil) == (found == nil), "\(property.name)")
      // A reader that knows the class gets an optional for a property that may be nil.
      let texts = [typed, found].map {
        String(describing: $0).replacing("Optional(", with: "").replacing(")", with: "")
      }
      // Enumerations are read as their raw values, and narrow numbers are read as Int.
      if !property.name.lowercased().contains("mood"), !property.isArray {
        #expect(texts[0] == texts[1], "\(property.name)")
      }
    }
    #expect((dynamic["optionalStrings"] as? List<String?>).map { Array($0) } == ["a", nil])
    #expect(dynamic["uuid"] as? UUID == everything.uuid)
  }

  @Test func `objects of another file are copied by the stored names of their properties`() throws {
    let files = try (0..<2).map { _ in try Self.filled() }
    defer { withExtendedLifetime(files) {} }
    let (first, second) = (try Self.bare(files[0]), try Self.bare(files[1]))
    let anna = try #require(first.dynamicObject(ofType: "Resident", forPrimaryKey: 1))
    try second.write {
      // This file has more classes than the other one, so that the places of classes differ.
      second.deleteAll()
      second.dynamicCreate("Resident", value: ["id": 7, "any": anna])
      second.dynamicCreate("Resident", value: anna, update: .modified)
    }
    #expect(!second.isEmpty)
    #expect(Set(second.dynamicObjects("Resident").map { $0["id"] as? Int }) == [7, 1, 2])
    let seven = try #require(second.dynamicObject(ofType: "Resident", forPrimaryKey: 7))
    #expect((seven["any"] as? DynamicObject)?["short_name"] as? String == "An")
    try second.verify()
    try second.write { second.deleteAll() }
    #expect(second.isEmpty && !first.isEmpty)
  }

  @Test func `objects that come from another thread are written on this thread`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    let realm = try Self.bare(file)
    let anna = try #require(realm.dynamicObject(ofType: "Resident", forPrimaryKey: 1))
    let reference = ThreadSafeReference(to: anna)
    let frozen = Sent(anna.freeze())
    let configuration = realm.configuration
    let thread = Thread {
      autoreleasepool {
        do {
          let realm = try opened(configuration)
          try realm.write { frozen.object.thaw()?["name"] = "Anne" }
          try realm.write { realm.resolve(reference)?["height"] = 2.0 }
        } catch { Issue.record(error) }
      }
      frozen.done.signal()
    }
    thread.start()
    frozen.done.wait()
    realm.refresh()
    #expect(anna.name as? String == "Anne" && anna["height"] as? Double == 2)
  }

  private final class Sent: @unchecked Sendable {
    // Sendable: a frozen object may be read by any thread.
    let object: DynamicObject
    let done = DispatchSemaphore(value: 0)
    init(_ object: DynamicObject) { self.object = object }
  }

  @Test func `a query finds an object by the key of its class`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    let realm = try Self.bare(file)
    let found = try realm.dynamicObjects("Resident").query("friend == obj('Resident', 2)")
    #expect(found.map { $0["id"] as? Int } == [1])
  }

  @Test func `objects of classes are made of dynamic objects, with all objects that these link to`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: Self.types))
    let dynamic = try #require(realm.dynamicObject(ofType: "Resident", forPrimaryKey: 1))
    let other = try Realm(
      configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: Self.types))
    try other.write { other.create(Resident.self, value: dynamic) }
    let copy = try #require(other.object(ofType: Resident.self, forPrimaryKey: 1))
    #expect(copy.friend?.name == "Bob" && copy.friends.map(\.id) == [2, 1] && copy.street?.name == "Main")
    #expect(copy.streets.map(\.name) == ["S1", "S2"] && copy.nick == "An" && copy.mood == .merry)
    let anna = try #require(realm.object(ofType: Resident.self, forPrimaryKey: 1))
    try realm.write {
      anna.dynamicList("friends").append(dynamic)
      realm.add(dynamic)
    }
    #expect(anna.friends.map(\.id) == [2, 1, 1])
    let list = List<DynamicObject>()
    list.append(objectsIn: realm.dynamicObjects("Resident"))
    #expect(list.sum(ofProperty: "id") as Int == 3)
  }

  @Test func `objects that link in a circle, by links and by values of any type, are copied completely`()
    throws
  {
    let (from, to) = (try memoryRealm([Loop.self]), try memoryRealm([Loop.self]))
    try from.write {
      let (a, b) = (from.create(Loop.self), from.create(Loop.self))
      (a.friend, a.any, b.friend, b.any) = (b, .object(b), a, .object(a))
    }
    let first = from.objects(Loop.self)[0]
    // A link asks for a dynamic object, and the value asks for an object of the class. Each of them has a copy of its
    // own.
    try to.write { to.dynamicCreate("Loop", value: first) }
    #expect(to.objects(Loop.self).count == 4)
    try to.write { to.create(Loop.self, value: first) }
    #expect(to.objects(Loop.self).count == 6)
  }

  @Test func `a property that is added meanwhile is found behind a link, too`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    let realm = try Self.bare(file)
    let anna = try #require(realm.dynamicObject(ofType: "Resident", forPrimaryKey: 1))
    #expect((anna["street"] as? DynamicObject)?.name as? String == "Main")
    let database = try Database(path: file.url.path)
    try database.write { transaction in
      try transaction.table("Lane")?.addColumn(Column("number", .int64))
    }
    database.close()
    realm.refresh()
    #expect((anna["street"] as? DynamicObject)?["number"] as? Int == 0)
    #expect(realm.dynamicObjects("Resident").filter("street.number == 0").count == 1)
    try realm.write { anna["street"] = ["name": "Side", "number": 5] }
    #expect((anna["street"] as? DynamicObject)?["number"] as? Int == 5)
  }

  @Test func `a class that a cancelled transaction removed is looked for again`() throws {
    let file = try Self.filled()
    defer { withExtendedLifetime(file) {} }
    let realm = try Self.bare(file)
    realm.beginWrite()
    let other = try Realm(
      configuration: Realm.Configuration(fileURL: realm.configuration.fileURL, objectTypes: [Base.self]))
    realm.dynamicCreate("Base", value: ["id": 1])
    realm.cancelWrite()
    #expect(realm.schema["Base"] == nil)
    try other.write { other.create(Base.self, value: ["id": 2]) }
    #expect(realm.dynamicObjects("Base").map { $0["id"] as? Int } == [2])
  }
}

private class Loop: Object {
  @Persisted var friend: Loop?
  @Persisted var any: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
