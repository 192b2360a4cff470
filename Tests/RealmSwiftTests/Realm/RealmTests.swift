import Foundation
import RealmStorage
import RealmSwift
import Testing

@Suite("Realms")
struct RealmTests {
  @Test("Committed objects are there when the file is opened again")
  func reopening() throws {
    let file = TemporaryFile()
    for round in 0..<3 {
      let realm = try Realm(configuration: file.configuration)
      #expect(realm.objects(Person.self).count == round)
      try realm.write { realm.add(Person(id: round, name: "p\(round)", age: round)) }
    }
    let realm = try Realm(fileURL: file.url)
    #expect(realm.objects(Person.self).sorted(by: \.id).map(\.name) == ["p0", "p1", "p2"])
    #expect(realm.configuration == file.configuration)
  }

  @Test("Realms of one file on one thread are the same, and each thread has its own view")
  func sharing() async throws {
    let file = TemporaryFile()
    let configuration = file.configuration
    try onThread {
      let realm = try Realm(configuration: configuration)
      let again = try Realm(configuration: configuration)
      #expect(realm == again)
      #expect(realm.objects(Person.self).isEmpty)
      try onThread {
        let other = try Realm(configuration: configuration)
        try other.write { other.add(Person(id: 1, name: "a", age: 1)) }
      }
      #expect(realm.objects(Person.self).isEmpty)
      #expect(realm.refresh() && !realm.refresh())
      #expect(realm.objects(Person.self).count == 1)
    }
  }

  @Test("The files of a realm are removed if nothing has it open")
  func deletion() throws {
    let file = TemporaryFile()
    let beside = [".note", ".management"].map { file.url.path + $0 }
    #expect(!Realm.fileExists(for: file.configuration))
    #expect(try !Realm.deleteFiles(for: file.configuration))
    try autoreleasing {
      let realm = try Realm(configuration: file.configuration)
      try realm.write { realm.add(Person(id: 1, name: "a", age: 1)) }
      #expect(Realm.fileExists(for: file.configuration))
      let error = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: file.configuration) }
      #expect(error?.code == .alreadyOpen && realm.objects(Person.self).count == 1)
    }
    // The file is also open in another process, which this handle plays.
    let database = try Database(path: file.url.path)
    let error = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: file.configuration) }
    #expect(error?.code == .alreadyOpen && error?.fileURL == file.url)
    database.close()
    #expect(try Realm.deleteFiles(for: file.configuration))
    #expect(([file.url.path] + beside).allSatisfy { !FileManager.default.fileExists(atPath: $0) })
    let realm = try Realm(configuration: file.configuration)
    #expect(realm.isEmpty)
    #expect(try !Realm.deleteFiles(for: Realm.Configuration(inMemoryIdentifier: "none")))
  }

  @Test("An error that a program makes has its code and its other values")
  func ownErrors() {
    let error = Realm.Error(.fail, userInfo: [NSLocalizedDescriptionKey: "no"])
    #expect(
      error.code == .fail && error.localizedDescription == "no" && (error as NSError).domain == "io.realm")
    #expect(Realm.Error(.invalidInput).errorCode == 13 && Realm.Error(.fail) != Realm.Error(.invalidInput))
  }

  @Test("A realm begins as a copy of its seed, once")
  func seeds() throws {
    let (seed, file) = (TemporaryFile(), TemporaryFile())
    var key = seed.configuration
    key.encryptionKey = Data(repeating: 7, count: 64)
    try autoreleasing {
      let realm = try Realm(configuration: key)
      try realm.write { realm.add(Person(id: 1, name: "seed", age: 1)) }
    }
    var configuration = Realm.Configuration(
      fileURL: file.url, encryptionKey: key.encryptionKey, seedFilePath: seed.url)
    for round in 0..<2 {
      try autoreleasing {
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Person.self).count == 1 + round)
        try realm.write { realm.add(Person(id: 2 + round, name: "own", age: 1)) }
      }
    }
    let beside = try FileManager.default.contentsOfDirectory(
      atPath: file.url.deletingLastPathComponent().path)
    #expect(!beside.contains { $0.hasPrefix(file.url.lastPathComponent + ".seed") })
    #expect(try Realm(configuration: key).objects(Person.self).count == 1)
    configuration.fileURL = TemporaryFile().url
    configuration.seedFilePath = URL(fileURLWithPath: "/nowhere/seed.realm")
    let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    #expect(error?.code == .fileNotFound && error?.fileURL?.path == "/nowhere/seed.realm")
    #expect(!Realm.fileExists(for: configuration))
  }

  @Test("A file that does not fit its classes becomes a new file if the configuration asks for it")
  func deletionForMigration() throws {
    let file = TemporaryFile()
    try makeMisfit(file)
    var configuration = file.configuration
    let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    #expect(error?.code == .schemaMismatch)
    configuration.deleteRealmIfMigrationNeeded = true
    #expect(configuration != file.configuration)
    // The file is also open in another process, which this handle plays.
    let database = try Database(path: file.url.path)
    let refusal = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    #expect(refusal?.code == .alreadyOpen)
    database.close()
    for round in 0..<2 {
      try autoreleasing {
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Person.self).count == round)
        try realm.write { realm.add(Person(id: round, name: "a", age: 1)) }
      }
    }
  }

  @Test("A seed may be a symbolic link or a read-only file, and a seed that does not fit is ignored")
  func hardSeeds() throws {
    let (seed, link, file) = (TemporaryFile(), TemporaryFile(), TemporaryFile())
    let files = FileManager.default
    try autoreleasing {
      let realm = try Realm(configuration: seed.configuration)
      try realm.write { realm.add(Person(id: 1, name: "seed", age: 1)) }
    }
    try files.setAttributes([.posixPermissions: 0o440], ofItemAtPath: seed.url.path)
    try files.createSymbolicLink(at: link.url, withDestinationURL: seed.url)
    var configuration = Realm.Configuration(fileURL: file.url, seedFilePath: link.url)
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Person(id: 2, name: "own", age: 1)) }
      #expect(realm.objects(Person.self).count == 2)
    }
    let mode = try files.attributesOfItem(atPath: file.url.path)[.posixPermissions] as? NSNumber
    #expect(mode?.intValue == 0o640)
    #expect(try files.destinationOfSymbolicLink(atPath: link.url.path) == seed.url.path)
    try autoreleasing {
      let realm = try Realm(configuration: Realm.Configuration(fileURL: seed.url, readOnly: true))
      #expect(realm.objects(Person.self).count == 1)
    }
    let old = TemporaryFile()
    try makeMisfit(old)
    configuration = Realm.Configuration(
      fileURL: TemporaryFile().url, deleteRealmIfMigrationNeeded: true, seedFilePath: old.url)
    #expect(try Realm(configuration: configuration).isEmpty)
  }

  @Test("The target of a symbolic link is removed with it, and other files stay")
  func linkedDeletion() throws {
    let (file, link) = (TemporaryFile(), TemporaryFile())
    let files = FileManager.default
    try autoreleasing { _ = try Realm(configuration: file.configuration) }
    try files.createSymbolicLink(at: link.url, withDestinationURL: file.url)
    try files.createDirectory(atPath: link.url.path + ".management", withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: link.url.path + ".management/other"))
    #expect(try Realm.deleteFiles(for: link.configuration))
    #expect(!files.fileExists(atPath: file.url.path) && !files.fileExists(atPath: link.url.path))
    #expect(files.fileExists(atPath: link.url.path + ".management/other"))
    try files.removeItem(atPath: link.url.path + ".management")
  }

  /// Makes a file whose table of Persons fits no class.
  private func makeMisfit(_ file: TemporaryFile) throws {
    let database = try Database(path: file.url.path)
    try database.write { transaction in
      _ = try transaction.createTable(TableSchema("Person", columns: [Column("other", .int64)]))
    }
    database.close()
  }

  @Test("Files that a missing realm file has left are removed too")
  func leftovers() throws {
    let file = TemporaryFile()
    try autoreleasing { _ = try Realm(configuration: file.configuration) }
    try FileManager.default.removeItem(at: file.url)
    #expect(try Realm.deleteFiles(for: file.configuration))
    #expect(!FileManager.default.fileExists(atPath: file.url.path + ".management"))
  }

  @Test("A serial queue has a realm of its own")
  func queues() throws {
    let file = TemporaryFile()
    let queue = DispatchQueue(label: "realm")
    try queue.sync {
      let realm = try Realm(configuration: file.configuration, queue: queue)
      try realm.write { realm.add(Person(id: 1, name: "a", age: 1)) }
      #expect(realm.objects(Person.self).count == 1)
    }
  }

  @Test("A realm in memory exists while it is open")
  func inMemory() throws {
    let name = UUID().uuidString
    let configuration = Realm.Configuration(inMemoryIdentifier: name)
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Person(id: 1, name: "a", age: 1)) }
      let again = try Realm(configuration: configuration)
      #expect(again.objects(Person.self).count == 1)
    }
    let realm = try Realm(configuration: configuration)
    #expect(realm.isEmpty)
  }

  @Test("Only the classes of objectTypes are stored")
  func objectTypes() throws {
    let realm = try memoryRealm([Base.self])
    try realm.write { realm.create(Base.self, value: ["id": 3]) }
    #expect(realm.objects(Base.self)[0].id == 3)
  }

  @Test("A wrong key, no key, a file that is not a realm and a missing file have different errors")
  func refusals() throws {
    let file = TemporaryFile()
    var configuration = file.configuration
    configuration.encryptionKey = Data(repeating: 1, count: 64)
    try autoreleasing { _ = try Realm(configuration: configuration) }
    configuration.encryptionKey = Data(repeating: 2, count: 64)
    for bad in [configuration, file.configuration] {
      do {
        _ = try Realm(configuration: bad)
        Issue.record("it was opened")
      } catch let error as Realm.Error {
        #expect(error.code == .invalidDatabase && error.fileURL == file.url)
        #expect(error.localizedDescription.contains("encrypted"))
      }
    }
    try Data("no realm at all".utf8).write(to: file.url)
    #expect(throws: Realm.Error.self) { try Realm(configuration: file.configuration) }
    var missing = TemporaryFile().configuration
    missing.readOnly = true
    do {
      _ = try Realm(configuration: missing)
      Issue.record("it was opened")
    } catch Realm.Error.fileNotFound {
    } catch {
      Issue.record("another error: \(error)")
    }
  }

  @Test("An error is an NSError with a domain, a code and the file's path")
  func bridging() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      .appendingPathComponent("a.realm")
    do {
      _ = try Realm(configuration: Realm.Configuration(fileURL: url))
      Issue.record("it was opened")
    } catch let error as NSError {
      #expect(error.domain == "io.realm" && error.code == Realm.Error.Code.fileNotFound.rawValue)
      #expect(error.userInfo[NSFilePathErrorKey] as? String == url.path)
      #expect((error as Error) as? Realm.Error != nil)
    }
  }

  @Test("A table that differs from its class is an error that names the property")
  func schemaMismatch() throws {
    let file = TemporaryFile()
    try autoreleasing {
      let database = try Database(path: file.url.path)
      _ = try database.write { transaction in
        try transaction.createTable(
          TableSchema("Base", columns: [Column("id", .string), Column("gone", .int64)]))
      }
    }
    do {
      _ = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: [Base.self]))
      Issue.record("it was opened")
    } catch Realm.Error.schemaMismatch {
    }
  }

  @Test("A read-only realm can be read, even if it lacks the table of a class")
  func readOnly() throws {
    let file = TemporaryFile()
    try autoreleasing {
      let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: [Base.self]))
      try realm.write { realm.create(Base.self, value: ["id": 3]) }
    }
    let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url, readOnly: true))
    #expect(realm.objects(Base.self)[0].id == 3)
    #expect(realm.objects(Person.self).isEmpty && realm.object(ofType: Person.self, forPrimaryKey: 1) == nil)
    #expect(realm.objects(Person.self).where { $0.age > 1 }.sorted(by: \.age).map(\.id) == [])
    #expect(realm.objects(Person.self).sum(of: \.age) == 0)
  }

  @Test("An invalidated realm releases its objects and can be used again")
  func invalidating() throws {
    let realm = try memoryRealm()
    let person = Person(id: 1, name: "a", age: 1)
    try realm.write { realm.add(person) }
    let people = realm.objects(Person.self)
    realm.invalidate()
    #expect(person.isInvalidated && people.isInvalidated)
    #expect(realm.objects(Person.self)[0].name == "a")
  }
}

/// Calls `body` on a new thread, waits for it, and throws its error.
func onThread(_ body: @escaping @Sendable () throws -> Void) throws {
  final class Outcome: @unchecked Sendable { var error: (any Error)? }
  let outcome = Outcome()
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    do { try body() } catch { outcome.error = error }
    done.signal()
  }
  thread.stackSize = 8 << 20
  thread.start()
  done.wait()
  if let error = outcome.error { throw error }
}
