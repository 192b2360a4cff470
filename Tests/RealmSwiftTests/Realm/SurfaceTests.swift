import Foundation
import Realm
import RealmSwift
import Testing

/// Code that is written for RealmSwift, with its names, labels and types. Only code that no other test has is here.
@Suite struct SurfaceTests {
  @Test func `update policies are those of RealmSwift`() {
    let policies: [Realm.UpdatePolicy] = [.error, .all, .modified]
    #expect(policies.map(\.rawValue) == [1, 2, 3])
  }

  @Test func `errors are told apart by case and code, as Realm.Error and as NSError`() throws {
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
    // There is a folder at the path of the file.
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

  @Test func `a configuration is made with all its labels, and keeps all its values`() throws {
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
}
