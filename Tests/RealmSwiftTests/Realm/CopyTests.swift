import Foundation
import RealmStorage
import RealmSwift
import RealmTestSupport
import Testing

private func size(_ url: URL) throws -> Int {
  let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
  return try #require(attributes[.size] as? Int)
}

@Suite struct CopyTests {
  private let types: [ObjectBase.Type] = [Person.self, Dog.self]

  private func people(_ file: TemporaryFile, key: Data? = nil, _ count: Int = 2000) throws
    -> Realm.Configuration
  {
    let configuration = Realm.Configuration(fileURL: file.url, encryptionKey: key, objectTypes: types)
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        for id in 0..<count { realm.add(Person(id: id, name: "person \(id)", age: id % 90)) }
      }
    }
    return configuration
  }

  @Test func `a realm is copied with another key or without one, and with uncommitted changes`() throws {
    let (file, target, plain) = (TemporaryFile(), TemporaryFile(), TemporaryFile())
    let (first, second) = (Data(repeating: 1, count: 64), Data(repeating: 2, count: 64))
    let realm = try Realm(configuration: people(file, key: first))
    try realm.writeCopy(toFile: target.url, encryptionKey: second)
    try realm.write {
      realm.delete(realm.objects(Person.self).where { $0.id >= 10 })
      realm.objects(Person.self)[0].words.append("changed")
      try realm.writeCopy(toFile: plain.url)
    }
    let copy = try Realm(
      configuration: Realm.Configuration(fileURL: target.url, encryptionKey: second, objectTypes: types))
    #expect(copy.objects(Person.self).count == 2000)
    let small = try Realm(configuration: Realm.Configuration(fileURL: plain.url, objectTypes: types))
    #expect(
      small.objects(Person.self).count == 10 && Array(small.objects(Person.self)[0].words) == ["changed"])
    try small.verify()
    try copy.verify()
    let error = #expect(throws: Realm.Error.self) { try realm.writeCopy(toFile: target.url) }
    #expect(error?.code == .fileExists && error?.fileURL == target.url)
  }

  @Test func `a realm is copied for a configuration, which then opens it`() throws {
    let (file, target) = (TemporaryFile(), TemporaryFile())
    let realm = try Realm(configuration: people(file))
    let configuration = Realm.Configuration(
      fileURL: target.url, encryptionKey: Data(repeating: 3, count: 64), schemaVersion: 5, objectTypes: types)
    try realm.writeCopy(configuration: configuration)
    let copy = try Realm(configuration: configuration)
    #expect(copy.objects(Person.self).count == 2000 && copy.configuration.schemaVersion == 5)
    let inMemory = try memoryRealm([Dog.self, Person.self])
    let dogs = TemporaryFile()
    try inMemory.write { inMemory.create(Dog.self, value: ["name": "Rex"]) }
    try inMemory.writeCopy(toFile: dogs.url)
    #expect(try Realm(fileURL: dogs.url).objects(Dog.self).first?.name == "Rex")
  }

  @Test func `a file is compacted on launch if the program says so`() throws {
    let file = TemporaryFile()
    var configuration = try people(file, 6_000)
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.delete(realm.objects(Person.self).where { $0.id >= 120 }) }
    }
    let asked = Asked()
    configuration.shouldCompactOnLaunch = { total, used in
      asked.note(total, used)
      return used < total / 2
    }
    let before = try size(file.url)
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Person.self).count == 120)
      // The file is open already, so the block is not called.
      #expect(try Realm(configuration: configuration) == realm)
      try realm.verify()
    }
    #expect(asked.all.count == 1 && asked.all[0].total == before && asked.all[0].used < before / 2)
    #expect(try size(file.url) < before / 2)
    // The file is also open in another process, which this handle plays.
    let database = try Database(path: file.url.path)
    try autoreleasing { _ = try Realm(configuration: configuration) }
    #expect(asked.all.count == 1)
    database.close()
    try autoreleasing { _ = try Realm(configuration: configuration) }
    #expect(asked.all.count <= 2)
  }

  @Test func `the compaction block is not called for a file that becomes a new realm`() throws {
    let file = TemporaryFile()
    try Data().write(to: file.url)
    let asked = Asked()
    var configuration = Realm.Configuration(fileURL: file.url, objectTypes: types)
    configuration.shouldCompactOnLaunch = { total, used in
      asked.note(total, used)
      return true
    }
    try autoreleasing { try Realm(configuration: configuration).verify() }
    #expect(asked.all.isEmpty)
  }

  @Test func `a file that can't be compacted is opened as it is, and the compaction block may open realms`()
    throws
  {
    let file = TemporaryFile()
    var configuration = try people(file, 3000)
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.delete(realm.objects(Person.self).where { $0.id >= 30 }) }
    }
    let settings = TemporaryFile()
    configuration.shouldCompactOnLaunch = { [types] _, _ in
      let other = try? Realm(configuration: Realm.Configuration(fileURL: settings.url, objectTypes: types))
      return other != nil
    }
    // No file can be made in the folder. The superuser can make one all the same, and then the file is compacted.
    let folder = file.url.deletingLastPathComponent().appendingPathComponent("closed-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let moved = folder.appendingPathComponent("a.realm")
    try FileManager.default.moveItem(at: file.url, to: moved)
    try autoreleasing {
      _ = try Realm(configuration: Realm.Configuration(fileURL: moved, objectTypes: types))
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
      try? FileManager.default.removeItem(at: folder)
    }
    configuration.fileURL = moved
    #expect(try Realm(configuration: configuration).objects(Person.self).count == 30)
  }

  private final class Asked: @unchecked Sendable {
    // Sendable: the block is called by the thread that opens the realm.
    private(set) var all: [(total: Int, used: Int)] = []
    func note(_ total: Int, _ used: Int) { all.append((total, used)) }
  }

  @Test func `the versions in use are not more than the configuration allows`() throws {
    let file = TemporaryFile()
    var configuration = try people(file)
    configuration.maximumNumberOfActiveVersions = 3
    let realm = try Realm(configuration: configuration)
    let database = try Database(path: file.url.path)
    var held: [Snapshot] = []
    for id in 0..<3 {
      held.append(try database.snapshot())
      if id < 2 { try realm.write { realm.objects(Person.self)[0].age = 100 + id } }
    }
    try realm.write { realm.objects(Person.self)[0].age = 7 }
    held.append(try database.snapshot())
    let error = #expect(throws: Realm.Error.self) {
      try realm.write { realm.objects(Person.self)[0].age = 8 }
    }
    #expect(error?.localizedDescription.contains("maximumNumberOfActiveVersions is 3") == true)
    held.removeAll()
    try realm.write { realm.objects(Person.self)[0].age = 9 }
    #expect(realm.objects(Person.self)[0].age == 9)
  }

  @Test func `ten thousand openings leave no descriptor and no mapping behind`() throws {
    let file = TemporaryFile(named: "test-openings")
    let configuration = try people(file, 10)
    let slow = ProcessInfo.processInfo.environment["REALM_SLOW_TESTS"] != nil
    for _ in 0..<(slow ? 10_000 : 300) {
      try autoreleasing {
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Person.self).count == 10)
      }
    }
    // Other tests open files meanwhile, but nothing of this file is left.
    let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    #expect(!maps.contains("test-openings"))
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    #expect(open.filter { $0.contains("test-openings") }.isEmpty)
  }
}

extension MisuseTests {
  @Test func `settings that contradict each other stop the program`() {
    expectStop(["Invalid configuration", "compacted", "readOnly"]) {
      _ = try? Realm(
        configuration: Realm.Configuration(
          fileURL: TemporaryFile().url, readOnly: true, shouldCompactOnLaunch: { _, _ in true }))
    }
    expectStop(["Invalid configuration", "in memory"]) {
      _ = try? Realm(
        configuration: Realm.Configuration(inMemoryIdentifier: "x", encryptionKey: Data(count: 64)))
    }
  }
}
