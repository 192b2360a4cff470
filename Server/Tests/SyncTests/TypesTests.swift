import Foundation
import RealmSwift
import Testing

/// A class of authors.
class Author: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var friend: Author?
  @Persisted var first: Work?
  @Persisted var works: List<Work>
  @Persisted var read: MutableSet<Work>
  @Persisted var byYear: Map<String, Work?>
  @Persisted var address: Postal?
  @Persisted var addresses: List<Postal>
  @Persisted var byTown: Map<String, Postal?>
}

class Work: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var title = ""
  @Persisted(originProperty: "works") var authors: LinkingObjects<Author>
}

class Postal: EmbeddedObject {
  @Persisted var street = ""
  @Persisted var numbers: List<Int>
  @Persisted var inner: Inner?
}

class Inner: EmbeddedObject {
  @Persisted var text = ""
}

/// A class for values of any type.
class AnyHolder: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var value: AnyRealmValue
  @Persisted var map: Map<String, AnyRealmValue>
}

class TextKeyed: Object {
  @Persisted(primaryKey: true) var id: String
  @Persisted var name = ""
}
class IdKeyed: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name = ""
}
class UUIDKeyed: Object {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted var name = ""
}
class MaybeKeyed: Object {
  @Persisted(primaryKey: true) var id: String?
  @Persisted var name = ""
}

/// The values that one device writes arrive on another, whatever their types.
@Suite(.timeLimit(.minutes(3))) @MainActor struct TypesTests {
  private func types(
    _ user: User, _ types: [ObjectBase.Type],
    _ subscribe: @escaping @Sendable (SyncSubscriptionSet) -> Void
  ) -> Realm.Configuration {
    var configuration = user.flexibleSyncConfiguration(initialSubscriptions: subscribe)
    configuration.objectTypes = types
    return configuration
  }

  /// Calls `body` with two devices that have all of these classes.
  private func withDevices(
    _ classes: [ObjectBase.Type], _ subscribe: @escaping @Sendable (SyncSubscriptionSet) -> Void,
    _ body: @MainActor (Realm, Realm) async throws -> Void
  ) async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let one = try await opened(types(users[0], classes, subscribe), .once)
      let two = try await opened(types(users[1], classes, subscribe), .once)
      try await body(one, two)
    }
  }

  /// All properties of an object, as a text.
  private func text<T: Object>(_ type: T.Type, _ key: some Any, in realm: Realm) -> String {
    realm.object(ofType: type, forPrimaryKey: key)?.description ?? "nothing"
  }

  // MARK: - Values

  @Test func `values of every type arrive, and so do their changes in both directions`() async throws {
    try await withDevices([AllValues.self], { $0.append(QuerySubscription<AllValues>()) }) { one, two in
      let object = AllValues()
      object.id = 1
      try object.fill(1)
      try one.write { one.add(object) }
      for (number, hasOptionals) in [(2, true), (3, false), (4, true)] {
        let (from, to) = number.isMultiple(of: 2) ? (two, one) : (one, two)
        try await from.sync().downloaded()
        try await eventually(in: from) { from.object(ofType: AllValues.self, forPrimaryKey: 1) != nil }
        let found = try #require(from.object(ofType: AllValues.self, forPrimaryKey: 1))
        try from.write {
          try found.fill(number)
          found.fillOptionals(hasOptionals)
        }
        let expected = found.description
        try await eventually(in: to) { text(AllValues.self, 1, in: to) == expected }
        let arrived = try #require(to.object(ofType: AllValues.self, forPrimaryKey: 1))
        #expect(arrived.data == found.data && arrived.date == found.date && arrived.decimal == found.decimal)
        #expect(arrived.optionalUUID == (hasOptionals ? found.uuid : nil))
        #expect(arrived.length == Length(meters: Double(number)))
      }
    }
  }

  @Test func `the bounds of numbers and long values arrive`() async throws {
    try await withDevices([AllValues.self], { $0.append(QuerySubscription<AllValues>()) }) { one, two in
      let long = noise(400_000)
      try one.write {
        for id in 1...2 {
          let object = one.create(AllValues.self, value: ["id": id])
          (object.int, object.int8) = id == 1 ? (Int.min, Int8.min) : (Int.max, Int8.max)
          (object.int16, object.int32) = id == 1 ? (Int16.min, Int32.min) : (Int16.max, Int32.max)
          object.int64 = id == 1 ? Int64.min : Int64.max
          object.float = id == 1 ? -Float.infinity : Float.leastNonzeroMagnitude
          object.double = id == 1 ? -0.0 : Double.greatestFiniteMagnitude
          object.date = Date(timeIntervalSince1970: id == 1 ? -62_135_596_800 : 253_402_300_799)
          object.decimal = id == 1 ? Decimal128.min : Decimal128.max
          (object.string, object.data) = id == 1 ? ("", Data()) : (long, Data(long.utf8))
        }
      }
      try await one.upload()
      try await eventually(in: two) { two.objects(AllValues.self).count == 2 }
      for id in 1...2 { #expect(text(AllValues.self, id, in: two) == text(AllValues.self, id, in: one)) }
      let last = try #require(two.object(ofType: AllValues.self, forPrimaryKey: 2))
      #expect(last.string == long && last.data == Data(long.utf8))
    }
  }

  // MARK: - Collections

  @Test func `lists and sets with elements of every type arrive, and so do their changes`() async throws {
    let subscribe: @Sendable (SyncSubscriptionSet) -> Void = { subscriptions in
      subscriptions.append(QuerySubscription<AllLists>())
      subscriptions.append(QuerySubscription<AllSets>())
    }
    try await withDevices([AllLists.self, AllSets.self], subscribe) { one, two in
      for number in 1...3 {
        let (from, to) = number.isMultiple(of: 2) ? (two, one) : (one, two)
        var values = try Elements.all(number) as [String: Any]
        values["id"] = 1
        try from.write {
          from.create(AllLists.self, value: values, update: .all)
          from.create(AllSets.self, value: values, update: .all)
        }
        let (lists, sets) = (text(AllLists.self, 1, in: from), text(AllSets.self, 1, in: from))
        try await eventually(in: to) {
          text(AllLists.self, 1, in: to) == lists && text(AllSets.self, 1, in: to) == sets
        }
      }
      let list = try #require(one.object(ofType: AllLists.self, forPrimaryKey: 1)).strings
      try one.write {
        list.insert("first", at: 0)
        list.move(from: 1, to: 2)
        list.append("last")
        list.remove(at: 1)
      }
      let expected = Array(list)
      try await eventually(in: two) {
        two.object(ofType: AllLists.self, forPrimaryKey: 1).map { Array($0.strings) } == expected
      }
    }
  }

  @Test func `maps with values of every type arrive, and so do their changes`() async throws {
    try await withDevices([AllMaps.self], { $0.append(QuerySubscription<AllMaps>()) }) { one, two in
      for number in 1...3 {
        let (from, to) = number.isMultiple(of: 2) ? (two, one) : (one, two)
        var values = try Elements.byKeys(number) as [String: Any]
        values["id"] = 1
        try from.write { from.create(AllMaps.self, value: values, update: .all) }
        let maps = text(AllMaps.self, 1, in: from)
        try await eventually(in: to) { text(AllMaps.self, 1, in: to) == maps }
      }
      let map = try #require(two.object(ofType: AllMaps.self, forPrimaryKey: 1)).strings
      try two.write {
        map["key 0"] = nil
        map["key 1"] = "changed"
        map["another"] = "new"
      }
      try await eventually(in: one) {
        let strings = one.object(ofType: AllMaps.self, forPrimaryKey: 1)?.strings
        return strings?["key 0"] == nil && strings?["key 1"] == "changed" && strings?["another"] == "new"
      }
    }
  }

  // MARK: - Links and embedded objects

  private nonisolated static let people: @Sendable (SyncSubscriptionSet) -> Void = { subscriptions in
    subscriptions.append(QuerySubscription<Author>())
    subscriptions.append(QuerySubscription<Work>())
  }
  private nonisolated static var peopleTypes: [ObjectBase.Type] {
    [Author.self, Work.self, Postal.self, Inner.self]
  }

  @Test func `links of all kinds arrive, even in circles`() async throws {
    try await withDevices(Self.peopleTypes, Self.people) { one, two in
      try one.write {
        let works = (1...3).map { id in
          one.create(Work.self, value: ["id": id, "title": "work \(id)"] as [String: Any])
        }
        let author = one.create(Author.self, value: ["id": 1, "name": "Ann"] as [String: Any])
        let friend = one.create(Author.self, value: ["id": 2, "name": "Bob"] as [String: Any])
        (author.friend, friend.friend) = (friend, author)
        author.first = works[0]
        author.works.append(objectsIn: [works[1], works[0], works[1]])
        author.read.insert(objectsIn: works)
        author.byYear["1999"] = works[2]
        author.byYear["2000"] = .some(nil)
      }
      try await eventually(in: two) { two.objects(Author.self).count == 2 }
      let author = try #require(two.object(ofType: Author.self, forPrimaryKey: 1))
      #expect(author.friend?.name == "Bob" && author.friend?.friend?.id == 1)
      #expect(author.first?.title == "work 1")
      #expect(Array(author.works.map(\.id)) == [2, 1, 2])
      #expect(Set(author.read.map(\.id)) == [1, 2, 3])
      #expect(author.byYear["1999"]??.id == 3 && author.byYear.count == 2)
      #expect(author.first?.authors.map(\.id) == [1])
      try two.write {
        author.friend = nil
        author.works.remove(at: 1)
        if let work = author.first { two.delete(work) }
      }
      let same = try #require(one.object(ofType: Author.self, forPrimaryKey: 1))
      try await eventually(in: one) { same.friend == nil && one.objects(Work.self).count == 2 }
      #expect(same.first == nil && Array(same.works.map(\.id)) == [2, 2])
      #expect(Set(same.read.map(\.id)) == [2, 3])
    }
  }

  @Test func `a link is nil if no subscription asks for the object`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let one = try await opened(types(users[0], Self.peopleTypes, Self.people), .once)
      let two = try await opened(
        types(users[1], Self.peopleTypes) { $0.append(QuerySubscription<Author>()) }, .once)
      try one.write {
        let work = one.create(Work.self, value: ["id": 1])
        let author = one.create(Author.self, value: ["id": 1])
        author.first = work
        author.works.append(work)
      }
      try await eventually(in: two) { two.objects(Author.self).count == 1 }
      let author = try #require(two.object(ofType: Author.self, forPrimaryKey: 1))
      #expect(author.first == nil && author.works.isEmpty)
      // A link to an object that is not seen is not removed.
      try two.write { author.name = "Ann" }
      let same = try #require(one.object(ofType: Author.self, forPrimaryKey: 1))
      try await eventually(in: one) { same.name == "Ann" }
      #expect(same.first?.id == 1 && same.works.count == 1)
    }
  }

  @Test func `embedded objects arrive in properties, lists and maps`() async throws {
    try await withDevices(Self.peopleTypes, Self.people) { one, two in
      try one.write {
        let postal: [String: Any] = ["street": "Main", "numbers": [1, 2], "inner": ["text": "deep"]]
        one.create(
          Author.self,
          value: ["id": 1, "address": postal, "addresses": [postal, postal], "byTown": ["Rome": postal]]
            as [String: Any])
      }
      let expected = text(Author.self, 1, in: one)
      try await eventually(in: two) { text(Author.self, 1, in: two) == expected }
      let author = try #require(two.object(ofType: Author.self, forPrimaryKey: 1))
      #expect(author.address?.inner?.text == "deep" && author.byTown["Rome"]??.numbers.count == 2)
      try two.write {
        author.address?.numbers.append(3)
        author.addresses[1].street = "Side"
        author.addresses.remove(at: 0)
        author.byTown["Rome"]??.inner = nil
        author.byTown["Oslo"] = Postal(value: ["street": "North"])
      }
      let changed = text(Author.self, 1, in: two)
      try await eventually(in: one) { text(Author.self, 1, in: one) == changed }
      let same = try #require(one.object(ofType: Author.self, forPrimaryKey: 1))
      #expect(Array(same.addresses.map(\.street)) == ["Side"])
      try one.write { same.address = nil }
      try await eventually(in: two) { author.address == nil }
    }
  }

  // MARK: - Any values

  private func anyValues() throws -> [AnyRealmValue] {
    let inner: [AnyRealmValue] = [.int(1), .fromArray([.string("deep"), .none]), .bool(false)]
    return [
      .none, .int(-1), .bool(true), .float(1.5), .double(2.5), .string("any"), .data(Data([1, 2])),
      .date(Date(timeIntervalSince1970: 1.5)), .objectId(ObjectId.generate()), .uuid(UUID()),
      .decimal128(try Decimal128(string: "1.10")), .fromArray(inner),
      .fromDictionary(["a": .fromDictionary(["b": .fromArray(inner)]), "c": .int(3)]),
    ]
  }

  @Test func `values of any type arrive, with nested lists and maps`() async throws {
    try await withDevices([AnyHolder.self], { $0.append(QuerySubscription<AnyHolder>()) }) { one, two in
      let values = try anyValues()
      try one.write {
        for (id, value) in values.enumerated() {
          let holder = one.create(AnyHolder.self, value: ["id": id])
          holder.value = value
          holder.map["key"] = value
        }
      }
      try await eventually(in: two) { two.objects(AnyHolder.self).count == values.count }
      for id in values.indices {
        #expect(text(AnyHolder.self, id, in: two) == text(AnyHolder.self, id, in: one), "\(id)")
      }
      let last = try #require(two.object(ofType: AnyHolder.self, forPrimaryKey: values.count - 1))
      let list = try #require(last.value.dictionaryValue?["a"]?.dictionaryValue?["b"]?.listValue)
      try two.write {
        list.append(.string("appended"))
        last.value.dictionaryValue?["c"] = .fromArray([.int(4)])
        last.map["key"] = .fromDictionary(["new": .int(5)])
      }
      let changed = text(AnyHolder.self, values.count - 1, in: two)
      try await eventually(in: one) { text(AnyHolder.self, values.count - 1, in: one) == changed }
    }
  }

  @Test func `values of any type can link to objects`() async throws {
    let subscribe: @Sendable (SyncSubscriptionSet) -> Void = { subscriptions in
      subscriptions.append(QuerySubscription<AnyHolder>())
      subscriptions.append(QuerySubscription<Note>())
    }
    try await withDevices([AnyHolder.self, Note.self], subscribe) { one, two in
      try one.write {
        let holder = one.create(AnyHolder.self, value: ["id": 1])
        let note = Note(1, "linked")
        one.add(note)
        holder.value = .object(note)
        holder.map["list"] = .fromArray([.object(note), .object(holder)])
      }
      try await eventually(in: two) { two.objects(AnyHolder.self).count == 1 && two.noteIDs == [1] }
      let holder = try #require(two.object(ofType: AnyHolder.self, forPrimaryKey: 1))
      #expect(holder.value.object(Note.self)?.text == "linked")
      #expect(holder.map["list"]?.listValue?[1].object(AnyHolder.self)?.id == 1)
    }
  }

  // MARK: - Keys

  @Test func `objects with keys of all types are found, changed and deleted on the other device`()
    async throws
  {
    let subscribe: @Sendable (SyncSubscriptionSet) -> Void = { subscriptions in
      subscriptions.append(QuerySubscription<Note>())
      subscriptions.append(QuerySubscription<TextKeyed>())
      subscriptions.append(QuerySubscription<IdKeyed>())
      subscriptions.append(QuerySubscription<UUIDKeyed>())
      subscriptions.append(QuerySubscription<MaybeKeyed>())
    }
    let types: [ObjectBase.Type] = [
      Note.self, TextKeyed.self, IdKeyed.self, UUIDKeyed.self, MaybeKeyed.self,
    ]
    try await withDevices(types, subscribe) { one, two in
      let (id, uuid) = (ObjectId.generate(), UUID())
      try one.write {
        one.add(Note(-7, "number"))
        one.create(TextKeyed.self, value: ["id": "kéy", "name": "text"])
        one.create(TextKeyed.self, value: ["id": "", "name": "empty"])
        one.create(IdKeyed.self, value: ["_id": id, "name": "id"] as [String: Any])
        one.create(UUIDKeyed.self, value: ["id": uuid, "name": "uuid"] as [String: Any])
        one.create(MaybeKeyed.self, value: ["id": NSNull(), "name": "none"] as [String: Any])
      }
      try await eventually(in: two) { two.objects(MaybeKeyed.self).count == 1 }
      let (byID, byUUID) = (
        two.object(ofType: IdKeyed.self, forPrimaryKey: id),
        two.object(ofType: UUIDKeyed.self, forPrimaryKey: uuid)
      )
      #expect(two.note(-7)?.text == "number")
      #expect(two.object(ofType: TextKeyed.self, forPrimaryKey: "kéy")?.name == "text")
      #expect(two.object(ofType: TextKeyed.self, forPrimaryKey: "")?.name == "empty")
      #expect(byID?.name == "id" && byUUID?.name == "uuid")
      #expect(two.objects(MaybeKeyed.self).first?.name == "none")
      try two.write {
        byID?.name = "changed"
        byUUID?.name = "changed"
        two.objects(MaybeKeyed.self).first?.name = "changed"
        two.delete(two.objects(TextKeyed.self))
        two.delete(two.objects(Note.self))
      }
      try await eventually(in: one) { one.objects(MaybeKeyed.self).first?.name == "changed" }
      #expect(one.object(ofType: IdKeyed.self, forPrimaryKey: id)?.name == "changed")
      #expect(one.object(ofType: UUIDKeyed.self, forPrimaryKey: uuid)?.name == "changed")
      #expect(one.objects(TextKeyed.self).isEmpty && one.noteIDs.isEmpty)
    }
  }
}
