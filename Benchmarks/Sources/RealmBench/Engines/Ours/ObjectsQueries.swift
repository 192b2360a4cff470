import Foundation
import RealmSwift

/// The classes that are queried.
final class MemberObject: Object {
  @Persisted(primaryKey: true) var id: Int64
  @Persisted(indexed: true) var name: String
  @Persisted var title: String
  @Persisted var accented: String
  @Persisted(indexed: true) var age: Int64
  @Persisted(indexed: true) var rank: Int64
  @Persisted var plainRank: Int64
  @Persisted(indexed: true) var created: Date
}

final class NoteObject: Object {
  @Persisted var number: Int64
  @Persisted var tags: List<String>
}

final class HumanObject: Object {
  @Persisted var name: String
  @Persisted var dogs: List<DogObject>
}

final class DogObject: Object {
  @Persisted var age: Int64
}

/// Queries of this project's object layer.
final class ObjectsQueries: QueryFile {
  private var opened: Realm?

  init(folder: String, isEncrypted: Bool) throws {
    opened = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder + "/queries.realm"),
        encryptionKey: isEncrypted ? Data((0..<64).map { UInt8($0) }) : nil,
        objectTypes: [MemberObject.self, NoteObject.self, HumanObject.self, DogObject.self]))
  }

  private func realm() throws -> Realm {
    guard let opened else { throw BenchmarkError("the realm is closed") }
    return opened
  }

  private func members() throws -> Results<MemberObject> { try realm().objects(MemberObject.self) }

  // MARK: - Filling

  func fill(_ inputs: QueryInputs) throws {
    let realm = try realm()
    try realm.write {
      inputs.forEachMember { realm.add(Self.object($0)) }
      var number: Int64 = 0
      inputs.forEachNote { tags in
        let note = NoteObject()
        note.number = number
        note.tags.append(objectsIn: tags)
        realm.add(note)
        number += 1
      }
      inputs.forEachHuman { human in
        let object = HumanObject()
        object.name = human.name
        for age in human.dogs {
          let dog = DogObject()
          dog.age = age
          object.dogs.append(dog)
        }
        realm.add(object)
      }
    }
  }

  private static func object(_ member: Member) -> MemberObject {
    let object = MemberObject()
    object.id = member.person.id
    object.name = member.person.name
    object.title = member.person.name
    object.accented = member.accented
    object.age = member.person.age
    object.rank = member.rank
    object.plainRank = member.rank
    object.created = Date(timeIntervalSince1970: Double(member.person.created))
    return object
  }

  // MARK: - Asking

  func list(createdIn ranges: [ClosedRange<Int64>], asTwo: Bool) throws -> Answer {
    let members = try members()
    var answer = Answer()
    for range in ranges {
      let first = Date(timeIntervalSince1970: Double(range.lowerBound))
      let last = Date(timeIntervalSince1970: Double(range.upperBound))
      let found =
        asTwo
        ? members.where { $0.created >= first && $0.created <= last }
        : members.where { $0.created.contains(first...last) }
      for member in found { answer.add(member.name) }
    }
    return answer
  }

  func list(namedFrom prefixes: [String]) throws -> Answer {
    let members = try members()
    var answer = Answer()
    for prefix in prefixes {
      for member in members.where({ $0.name.starts(with: prefix) }) { answer.add(member.age) }
    }
    return answer
  }

  func list(_ pairs: [(age: Int64, rank: Int64)], areBothIndexed: Bool) throws -> Answer {
    let members = try members()
    var answer = Answer()
    for pair in pairs {
      let found =
        areBothIndexed
        ? members.where { $0.age == pair.age && $0.rank == pair.rank }
        : members.where { $0.age == pair.age && $0.plainRank == pair.rank }
      for member in found { answer.add(member.id) }
    }
    return answer
  }

  /// The result is nil, because results list their rows only to return objects.
  func list(ages: [Int64]) throws -> Int? { nil }

  func countNotes(tagged tag: String) throws -> Int {
    try realm().objects(NoteObject.self).where { $0.tags.contains(tag) }.count
  }

  func countHumans(withDogs count: Int, olderThan age: Int64) throws -> Int {
    try realm().objects(HumanObject.self).where { ($0.dogs.age > age).count >= count }.count
  }

  func countTitles(containing part: String, isFolded: Bool, areAccented: Bool) throws -> Int? {
    let options: StringOptions = isFolded ? [.caseInsensitive, .diacriticInsensitive] : []
    return try members().where {
      areAccented
        ? $0.accented.contains(part, options: options) : $0.title.contains(part, options: options)
    }.count
  }

  func prepareConditions() throws { _ = try members().query(QueryInputs.conditions) }

  func close() { opened = nil }
}
