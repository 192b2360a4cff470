import Foundation
@_spi(Testing) import RealmSwift
import Testing

/// What stops a program is tried on threads that end where it would stop.
@Suite("Misuse", .serialized)
final class MisuseTests {
  final class Stop: @unchecked Sendable {
    var message = ""
    let done = DispatchSemaphore(value: 0)
  }

  /// There is one handler of errors at a time.
  private static let gate = NSLock()

  /// The message that `body` stops with; empty when it does not.
  func stop(_ body: @escaping @Sendable () throws -> Void) -> String {
    Self.gate.withLock { stopped(body) }
  }

  private func stopped(_ body: @escaping @Sendable () throws -> Void) -> String {
    let stop = Stop()
    _setProgrammerErrorHandler { name, reason in
      stop.message = "\(name): \(reason)"
      stop.done.signal()
      // What the thread holds is left as it is: nobody waits for it.
      while true { Thread.sleep(forTimeInterval: 1000) }
    }
    defer { _setProgrammerErrorHandler(nil) }
    Thread {
      do { try body() } catch { stop.message = "thrown: \(error)" }
      stop.done.signal()
    }.start()
    stop.done.wait()
    return stop.message
  }

  static func realm() throws -> Realm {
    let realm = try memoryRealm()
    try realm.write { realm.add(Person(id: 1, name: "Ann", age: 1)) }
    return realm
  }

  func expectStop(
    _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable () throws -> Void
  ) {
    let message = stop(body)
    for part in expected {
      #expect(message.contains(part), "'\(message)' lacks '\(part)'", sourceLocation: sourceLocation)
    }
  }

  @Test("Writing outside of a transaction names class and property")
  func writing() {
    expectStop(["Not in a write transaction", "Person.age", "realm.write"]) {
      try Self.realm().objects(Person.self)[0].age = 5
    }
    expectStop(["Not in a write transaction", "Person.words"]) {
      try Self.realm().objects(Person.self)[0].words.append("a")
    }
    expectStop(["Not in a write transaction"]) { try Self.realm().add(Dog()) }
    expectStop(["Not in a write transaction"]) {
      let realm = try Self.realm()
      realm.delete(realm.objects(Person.self)[0])
    }
    expectStop(["Not in a write transaction"]) { try Self.realm().deleteAll() }
    expectStop(["Transaction in a transaction"]) {
      let realm = try Self.realm()
      try realm.write { try realm.write {} }
    }
  }

  @Test("A primary key can't be taken twice, nor changed")
  func primaryKeys() {
    expectStop(["Duplicate primary key", "Person", "id = 1", "update"]) {
      let realm = try Self.realm()
      try realm.write { realm.add(Person(id: 1, name: "Bob", age: 1)) }
    }
    expectStop(["Primary key of a managed object", "Person.id"]) {
      let realm = try Self.realm()
      try realm.write { realm.objects(Person.self)[0].id = 1 }
    }
    expectStop(["No primary key", "Dog"]) {
      let realm = try Self.realm()
      try realm.write { realm.add(Dog(), update: .modified) }
    }
    expectStop(["No primary key", "Dog"]) {
      _ = try Self.realm().object(ofType: Dog.self, forPrimaryKey: 1)
    }
    expectStop(["Invalid primary key", "Person.id"]) {
      _ = try Self.realm().object(ofType: Person.self, forPrimaryKey: "one")
    }
  }

  @Test("A deleted object tells what was asked of it")
  func deleted() {
    expectStop(["Invalidated object", "Person.name"]) {
      let realm = try Self.realm()
      let person = realm.objects(Person.self)[0]
      try realm.write { realm.delete(person) }
      _ = person.name
    }
    expectStop(["Invalidated object", "Person.words"]) {
      let realm = try Self.realm()
      let person = realm.objects(Person.self)[0]
      try realm.write { realm.delete(person) }
      _ = person.words.count
    }
  }

  @Test("Objects and realms stay where they were opened")
  func threads() {
    expectStop(["Wrong thread"]) {
      nonisolated(unsafe) let realm = try Self.realm()
      nonisolated(unsafe) let person = realm.objects(Person.self)[0]
      try onThread { _ = person.name }
    }
    expectStop(["Wrong thread"]) {
      nonisolated(unsafe) let realm = try Self.realm()
      try onThread { _ = realm.objects(Person.self) }
    }
  }

  /// What outlives the thread that made it.
  private final class Kept: @unchecked Sendable { var person: Person? }

  @Test("What a thread that ended has left behind belongs to no later thread")
  func laterThreads() throws {
    let (file, kept) = (TemporaryFile(), Kept())
    let configuration = file.configuration
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { kept.person = realm.create(Person.self, value: [1, "Ann"]) }
    }
    for round in 0..<10 {
      // The system gives handles of threads again once they have ended.
      Thread.sleep(forTimeInterval: 0.02)
      try onThread {
        let realm = try Realm(configuration: configuration)
        #expect(realm != kept.person?.realm && realm.objects(Person.self).count == round + 1)
        if round < 9 { try realm.write { realm.create(Person.self, value: [round + 2, "Bob"]) } }
      }
    }
    expectStop(["Wrong thread"]) { _ = kept.person?.name }
  }

  @Test("Unknown names, places out of range and values of other types are told")
  func arguments() {
    expectStop(["Unknown property", "Person", "agee"]) {
      _ = try Self.realm().objects(Person.self).sorted(byKeyPath: "agee")
    }
    expectStop(["Invalid sort", "Person.dogs"]) {
      _ = try Self.realm().objects(Person.self).sorted(byKeyPath: "dogs")
    }
    expectStop(["Index out of range", "7", "1 Person"]) { _ = try Self.realm().objects(Person.self)[7] }
    expectStop(["Index out of range"]) { _ = List<Int>()[0] }
    expectStop(["Invalid value", "Person.age", "String"]) { _ = Person(value: ["age": "old"]) }
    expectStop(["Invalid value", "array"]) { _ = Dog(value: [1, 2, 3, 4, 5, 6]) }
    expectStop(["Unmanaged collection", "queried"]) { _ = Person().dogs.where { $0.name == "a" } }
    expectStop(["Invalid encryption key", "3 bytes"]) {
      _ = Realm.Configuration(encryptionKey: Data([1, 2, 3]))
    }
  }

  @Test("Classes that can't be stored are told when a realm is opened")
  func classes() {
    expectStop(["Class not in the realm", "Person"]) {
      _ = try memoryRealm([Base.self]).objects(Person.self)
    }
    expectStop(["Invalid schema", "Person.dog", "objectTypes"]) { _ = try memoryRealm([Person.self]) }
    expectStop(["Invalid schema", "MappedWrong", "titel", "propertiesMapping"]) {
      _ = try memoryRealm([MappedWrong.self])
    }
    expectStop(["Invalid schema", "MappedTwice.title", "MappedTwice.name", "name"]) {
      _ = try memoryRealm([MappedTwice.self])
    }
    expectStop(["Invalid schema", "Abstract", "@Persisted"]) { _ = try memoryRealm([Nested.Abstract.self]) }
    expectStop(["Object of another realm", "Person"]) {
      let person = try Self.realm().objects(Person.self)[0]
      let other = try memoryRealm()
      try other.write { other.add(person) }
    }
  }

  @Test("An id or a decimal written in the program is one, or is told")
  func literals() {
    expectStop(["Invalid Decimal128", "'1,5'", "-1.50"]) { _ = Decimal128("1,5") }
    expectStop(["Invalid Decimal128", "true of type Bool"]) { _ = Decimal128(value: true) }
    expectStop(["Invalid value", "Everything.decimal"]) { _ = Everything(value: ["decimal": "1,5"]) }
    expectStop(["Invalid ObjectId", "'0123'", "24 hexadecimal digits"]) { _ = ObjectId("0123") }
    expectStop(["Invalid value", "Everything.objectId", "ObjectId"]) {
      _ = Everything(value: ["objectId": "0123456789abcdef01234567"])
    }
  }

  @Test("A name that no property has, and what can't be set, are told")
  func keyed() {
    expectStop(["Invalid configuration", "readOnly", "deleteRealmIfMigrationNeeded"]) {
      _ = try Realm(configuration: Realm.Configuration(readOnly: true, deleteRealmIfMigrationNeeded: true))
    }
    expectStop(["Unknown property", "Dog", "legs", "name"]) { _ = Dog()["legs"] }
    expectStop(["Unknown property", "Dog", "legs"]) { Dog()["legs"] = 4 }
    expectStop(["Invalid value", "Dog.name", "String"]) { Dog()["name"] = 4 }
    expectStop(["Not in a write transaction", "Person.words"]) {
      try Self.realm().objects(Person.self)[0]["words"] = ["x"]
    }
    expectStop(["Computed property", "Dog.people"]) { Dog()["people"] = [Person]() }
    expectStop(["Index out of range"]) { List<Int>().insert(contentsOf: [1], at: 1) }
    expectStop(["Index out of range"]) { List<Int>().remove(atOffsets: [0]) }
  }

  @Test("A type that can't be made of what a property starts with is told")
  func customDefaults() {
    expectStop(["Property without a default", "Positive", "'0'", "optional"]) { _ = WithoutDefault().number }
    expectStop(["Unreadable value", "WithoutDefault.number"]) {
      let realm = try memoryRealm([WithoutDefault.self])
      try realm.write {
        let object = realm.create(WithoutDefault.self, value: ["number": 1])
        object.number = Positive(unchecked: -1)
      }
      _ = realm.objects(WithoutDefault.self)[0].number
    }
  }

  @Test("A sum beyond 64 bits names its property")
  func overflow() {
    expectStop(["Overflow", "Person.age"]) {
      let realm = try Self.realm()
      try realm.write { realm.add(Person(id: 2, name: "Bob", age: .max)) }
      _ = realm.objects(Person.self).sum(of: \.age)
    }
  }
}

private struct Positive: FailableCustomPersistable {
  var persistableValue: Int
  init(unchecked number: Int) { persistableValue = number }
  init?(persistedValue: Int) {
    guard persistedValue > 0 else { return nil }
    persistableValue = persistedValue
  }
}
private class WithoutDefault: Object {
  @Persisted var number: Positive
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
