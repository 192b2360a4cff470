import Foundation
import RealmSwift
import Testing

@Suite("Verifying a realm") struct VerifyTests {
  @Test("A whole realm passes, in memory, in a file and encrypted")
  func whole() throws {
    let realm = try memoryRealm()
    try realm.write { realm.add(Person(id: 1, name: "Ann", age: 1)) }
    try realm.verify()
    for key in [nil, Data(0..<64)] {
      let file = TemporaryFile()
      var configuration = file.configuration
      configuration.encryptionKey = key
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Person(id: 1, name: "Ann", age: 1)) }
      try realm.verify()
      realm.beginWrite()
      realm.deleteAll()
      try realm.verify()
      realm.cancelWrite()
    }
  }

  @Test("Damage is thrown before anything stops the program, and the error names the file and the part")
  func damaged() throws {
    let file = TemporaryFile()
    try autoreleasing {
      let realm = try Realm(configuration: file.configuration)
      try realm.write {
        for id in 0..<100 { realm.add(Person(id: id, name: "found by its text", age: 1)) }
      }
    }
    var bytes = try Data(contentsOf: file.url)
    let place = try #require(bytes.range(of: Data("found by".utf8)))
    bytes[place.lowerBound] ^= 1
    try bytes.write(to: file.url)
    let realm = try Realm(configuration: file.configuration)
    do {
      try realm.verify()
      Issue.record("nothing is thrown")
    } catch Realm.Error.invalidDatabase {
      // The error has the names that are checked below.
    }
    do {
      try realm.verify()
    } catch let error as Realm.Error {
      #expect(error.fileURL?.lastPathComponent == file.url.lastPathComponent)
      #expect(error.localizedDescription.contains("Person"), "\(error)")
      #expect(error.localizedDescription.contains("is damaged"), "\(error)")
    }
  }
}
