import Dispatch
import Foundation
import RealmSwift

/// A Person as a class.
final class PersonObject: Object {
  @Persisted(primaryKey: true) var id: Int64
  @Persisted var name: String
  @Persisted var email: String
  @Persisted var age: Int64
  @Persisted var score: Double
  @Persisted var active: Bool
  @Persisted var created: Date
  @Persisted(indexed: true) var city: String
  @Persisted var bio: String?
  @Persisted(originProperty: "owner") var tasks: LinkingObjects<TaskObject>
}

/// The object layer of this project: classes with `@Persisted` properties.
final class ObjectsEngine: Engine {
  private let configuration: Realm.Configuration
  private var opened: Realm?
  private let queue = DispatchQueue(label: "pinned reader")
  private nonisolated(unsafe) var pinned: Realm?

  init(folder: String, isEncrypted: Bool) throws {
    configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder + "/objects.realm"),
      encryptionKey: isEncrypted ? Data((0..<64).map { UInt8($0) }) : nil,
      objectTypes: [PersonObject.self, TaskObject.self])
    opened = try Realm(configuration: configuration)
  }

  func realm() throws -> Realm {
    guard let opened else { throw BenchmarkError("the realm is closed") }
    return opened
  }

  // MARK: - Writing

  func insertAll(_ source: inout PersonSource) throws {
    let realm = try realm()
    realm.beginWrite()
    while let people = source.next() {
      for person in people { realm.add(Self.object(person)) }
    }
    try realm.commitWrite()
  }

  private static func object(_ person: Person) -> PersonObject {
    let object = PersonObject()
    object.id = person.id
    object.name = person.name
    object.email = person.email
    object.age = person.age
    object.score = person.score
    object.active = person.active
    object.created = Date(timeIntervalSince1970: Double(person.created))
    object.city = person.city
    object.bio = person.bio
    return object
  }

  var hasRelaxedCommits: Bool { false }
  var promise = Promise.durable
  func prepareSmallCommits() {}

  func setScores(_ changes: ArraySlice<ScoreChange>) throws {
    let realm = try realm()
    try realm.write {
      for change in changes { try Self.person(change.id, in: realm).score = change.score }
    }
  }

  /// Each thread has a realm of its own.
  func commitFromThreads(_ changes: [[ScoreChange]]) throws -> Committers.Times {
    let configuration = configuration
    // The realm of this thread has to see the commits of the other threads.
    defer { opened?.refresh() }
    return try Committers.run(changes) {
      let realm = try Realm(configuration: configuration)
      return { change in
        try realm.write { try Self.person(change.id, in: realm).score = change.score }
      }
    }
  }

  func insert(_ person: Person) throws {
    let realm = try realm()
    try realm.write { realm.add(Self.object(person)) }
  }

  static func person(_ id: Int64, in realm: Realm) throws -> PersonObject {
    guard let person = realm.object(ofType: PersonObject.self, forPrimaryKey: id) else {
      throw BenchmarkError("no Person \(id)")
    }
    return person
  }

  // MARK: - Reading

  func lookUp(_ ids: [Int64]) throws -> Answer {
    let realm = try realm()
    var answer = Answer()
    for id in ids {
      let person = try Self.person(id, in: realm)
      answer.add(person.name)
      answer.add(person.age)
    }
    return answer
  }

  func iterate() throws -> Answer {
    var answer = Answer()
    for person in try realm().objects(PersonObject.self) {
      answer.add(person.name)
      answer.add(person.age)
      answer.add(person.score)
    }
    return answer
  }

  func iterateStrings() throws -> Answer? { try iterate() }

  func count(age: Int64) throws -> Int {
    try realm().objects(PersonObject.self).where { $0.age == age }.count
  }

  func count(cities: [String]) throws -> Int {
    let people = try realm().objects(PersonObject.self)
    return cities.reduce(0) { sum, city in sum + people.where { $0.city == city }.count }
  }

  func readEverything() throws -> Answer {
    var answer = Answer()
    for person in try realm().objects(PersonObject.self) {
      answer.add(
        RowHash(
          Person(
            id: person.id, name: person.name, email: person.email, age: person.age, score: person.score,
            active: person.active, created: Int64(person.created.timeIntervalSince1970), city: person.city,
            bio: person.bio)))
    }
    return answer
  }

  // MARK: - A pinned reader

  /// Pins a realm on its own queue, which keeps the version that it reads first.
  func pin() throws {
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      guard !realm.isEmpty else { throw BenchmarkError("there are no Persons to pin") }
      pinned = realm
    }
  }

  func readPinned() throws -> Answer {
    try queue.sync {
      guard let pinned else { throw BenchmarkError("no reader is pinned") }
      var answer = Answer()
      for person in pinned.objects(PersonObject.self) { answer.add(person.score) }
      return answer
    }
  }

  func unpin() { queue.sync { pinned = nil } }

  // MARK: - The file

  func compacted(at path: String) throws -> Bool {
    try realm().writeCopy(toFile: URL(fileURLWithPath: path), encryptionKey: configuration.encryptionKey)
    return true
  }

  func close() {
    unpin()
    opened = nil
  }
}
