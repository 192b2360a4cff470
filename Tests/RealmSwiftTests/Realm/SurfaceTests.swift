import Foundation
import Realm
import RealmSwift
import Synchronization
import TestSupport
import Testing

/// Code as it is written for RealmSwift, by its names, labels and types, where no other test has it.
@Suite struct SurfaceTests {
  /// A class that gives its properties their values by the wrapper's own initializers.
  class Wrapped: Object {
    @Persisted(wrappedValue: 7, primaryKey: true) var id: Int
    @Persisted(wrappedValue: "x", indexed: true) var name: String
    @Persisted(wrappedValue: 1.5) var weight: Double
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  @Test func `a wrapper's initializers give values, indexes and keys`() throws {
    let realm = try memoryRealm([Wrapped.self])
    try realm.write { realm.add(Wrapped()) }
    let found = try #require(realm.object(ofType: Wrapped.self, forPrimaryKey: 7))
    #expect(found.name == "x" && found.weight == 1.5)
    #expect(realm.schema["Wrapped"]?["name"]?.isIndexed == true)
  }

  private func names<C: RealmCollection>(_ dogs: C) -> [String] where C.Element == Dog {
    var names: [String] = []
    for index in dogs.startIndex..<dogs.endIndex { names.append(dogs[index].name) }
    return names
  }

  private func total<Numbers: RealmKeyedCollection>(_ map: Numbers) -> Int where Numbers.Value == Int {
    map.values.reduce(0, +)
  }

  private func count<Model: Object & RealmFetchable>(_ type: Model.Type, _ realm: Realm) -> Int {
    realm.objects(type).count
  }

  private func list<Element: RealmCollectionValue>(of elements: Element...) -> List<Element> {
    let list = List<Element>()
    list.append(objectsIn: elements)
    return list
  }

  @Test func `generic code is written by the protocols of collections and classes`() throws {
    let realm = try memoryRealm([Dog.self, Person.self, Club.self])
    let person = Person(id: 1, name: "Ann", age: 30)
    person.dogs.append(objectsIn: ["Rex", "Ida"].map { Dog(value: ["name": $0]) })
    let club = Club(
      value: ["id": 1, "ranks": ["a": 2, "b": 3], "members": Array(person.dogs)] as [String: Any])
    try realm.write { realm.add([person] as [Object] + [club]) }
    #expect(names(realm.objects(Dog.self)) == ["Rex", "Ida"] && names(person.dogs) == ["Rex", "Ida"])
    #expect(names(club.members).count == 2 && names(AnyRealmCollection(person.dogs)) == ["Rex", "Ida"])
    #expect(person.dogs[0].people[0] == person && club.members[1].name == "Ida")
    #expect(AnyRealmCollection(realm.objects(Dog.self))[1].name == "Ida")
    #expect(total(club.ranks) == 5 && club.ranks["b"] == 3 && count(Dog.self, realm) == 2)
    #expect(list(of: 1, 2, 3)[1] == 2)
    let entry: SingleMapEntry<String, Int> = try #require(Array(club.ranks).first)
    #expect(entry.key == "a" && entry.value == 2)
  }

  @Test func `schemas tell of classes and properties`() throws {
    let realm = try memoryRealm([Dog.self, Person.self])
    let schema: Schema = realm.schema
    let dog: ObjectSchema = try #require(schema["Dog"])
    let type: PropertyType? = dog["name"]?.type
    #expect(type == .string && dog["none"] == nil && PropertyType.linkingObjects.rawValue == 8)
  }

  @Test func `objects are equal as their class says`() throws {
    let realm = try memoryRealm([Dog.self, Person.self])
    try realm.write { realm.add(Person(id: 1, name: "Ann", age: 30)) }
    let (one, two) = (realm.objects(Person.self)[0], realm.objects(Person.self)[0])
    #expect(one.isEqual(two) && !one.isEqual(nil) && !one.isEqual("Ann"))
  }

  @Test func `decimals are written as literals`() {
    let (whole, fraction, text): (Decimal128, Decimal128, Decimal128) = (3, 1.5, "-0.10")
    #expect(whole == Decimal128(integerLiteral: 3) && fraction == Decimal128(floatLiteral: 1.5))
    #expect(text == Decimal128(stringLiteral: "-0.1"))
  }

  private func raw<Case: RawRepresentable & PersistableEnum>(_ value: Case) -> Case.RawValue {
    value.rawValue
  }

  @Test func `enumerations are stored by their raw values`() {
    #expect(raw(Mood.merry) == "merry" && Everything(value: ["mood": "merry"]).mood == .merry)
  }

  @Test func `update policies are those of RealmSwift`() {
    let policies: [Realm.UpdatePolicy] = [.error, .all, .modified]
    #expect(policies.map(\.rawValue) == [1, 2, 3])
  }

  // MARK: - Files

  @Test func `errors are told apart by case, by code, as Realm.Error and as NSError`() throws {
    let expected: [(Realm.Error.Code, Realm.Error.Code, Int)] = [
      (.fail, Realm.Error.fail, 1), (.fileAccess, Realm.Error.fileAccess, 2),
      (.filePermissionDenied, Realm.Error.filePermissionDenied, 3), (.fileExists, Realm.Error.fileExists, 4),
      (.fileNotFound, Realm.Error.fileNotFound, 5), (.outOfDiskSpace, Realm.Error.outOfDiskSpace, 14),
      (.schemaMismatch, Realm.Error.schemaMismatch, 10), (.alreadyOpen, Realm.Error.alreadyOpen, 12),
      (.invalidDatabase, Realm.Error.invalidDatabase, 20),
    ]
    for (code, constant, number) in expected {
      #expect(code == constant && code.rawValue == number)
      do {
        throw Realm.Error(code, userInfo: [NSLocalizedDescriptionKey: "it failed"])
      } catch let error as NSError {
        #expect(error.domain == Realm.Error.errorDomain && error.code == number)
        #expect(error.localizedDescription == "it failed")
      }
    }
    // A folder where a file is to be.
    let folder = FileManager.default.temporaryDirectory
    do {
      _ = try Realm(fileURL: folder)
      Issue.record("a folder was opened")
    } catch Realm.Error.fileAccess, Realm.Error.fileOperationFailed {
    } catch {
      Issue.record("\(error)")
    }
    func opened(_ url: URL) -> Realm.Error.Code? {
      do { _ = try Realm(configuration: Realm.Configuration(fileURL: url, readOnly: true)) } catch let error
        as Realm.Error
      {
        return error.code
      } catch { Issue.record("\(error)") }
      return nil
    }
    #expect(opened(folder.appendingPathComponent("none-\(UUID()).realm")) == .fileNotFound)
  }

  @Test func `a configuration is made by all its labels, and keeps what it was given`() throws {
    let file = TemporaryFile()
    let configuration = Realm.Configuration(
      fileURL: file.url, inMemoryIdentifier: nil, syncConfiguration: nil, encryptionKey: nil, readOnly: false,
      schemaVersion: 2, migrationBlock: { _, _ in }, deleteRealmIfMigrationNeeded: false,
      shouldCompactOnLaunch: { total, used in total > 2 * used }, objectTypes: [Dog.self, Person.self],
      seedFilePath: nil)
    let realm = try Realm(configuration: configuration)
    #expect(realm.configuration == configuration && realm.configuration.schemaVersion == 2)
    #expect(Realm.Configuration.defaultConfiguration.fileURL != nil)
    #expect(configuration.description.contains(file.url.path))
  }

  @Test func `a logger is told what realms do, at its level and below`() throws {
    let told = Mutex<[(LogLevel, String)]>([])
    let logger = Logger(
      level: .info, logFunction: { level, message in told.withLock { $0.append((level, message)) } })
    let before = Logger.shared
    Logger.shared = logger
    defer { Logger.shared = before }
    let file = TemporaryFile(named: "logged")
    let configuration = Realm.Configuration(fileURL: file.url, objectTypes: [Dog.self, Person.self])
    func use() throws {
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.create(Dog.self) }
      }
    }
    func levels() -> [LogLevel] {
      told.withLock { all in
        defer { all = [] }
        return all.filter { $0.1.contains("logged") }.map(\.0)
      }
    }
    try use()
    #expect(levels() == [.info])
    logger.level = .all
    try use()
    #expect(levels() == [.info, .debug, .detail])
    logger.level = .off
    try use()
    #expect(levels() == [])
    #expect([LogLevel.trace, .warn, .fatal, .error].sorted() == [.fatal, .error, .warn, .trace])
    #expect("\(LogLevel.warn)" == "warn")
  }

  @Test func `an embedded object's properties are read by name too`() {
    let address = Address(value: ["street": "A"])
    address["street"] = "B"
    #expect(address["street"] as? String == "B" && address.isSameObject(as: address))
  }
}
