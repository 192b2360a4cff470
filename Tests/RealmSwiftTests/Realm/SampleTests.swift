import Foundation
import RealmSwift
import RealmTestSupport
import Testing

/// A chore in the list of a household.
class Chore: Object {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var choreName: String
  @Persisted var assignee: String?
  @Persisted var completed: Bool
  @Persisted var progressMinutes: Int
}

class Crew: Object {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var crewName: String
  @Persisted var chores: List<Chore>
  @Persisted var members: List<String>
}

class Errand: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name = ""
  @Persisted var owner: String?
}

/// Calls of programs that were written for RealmSwift, in their order.
@Suite struct SampleTests {
  @Test func `crews with chores and members are stored and found`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(inMemoryIdentifier: "crews", objectTypes: [Chore.self, Crew.self]))
    let crew = Crew(value: ["crewName": "Kitchen"])
    let chore = Chore(
      value: ["choreName": "Dishes", "progressMinutes": 125, "completed": true] as [String: Any])
    try! realm.write {
      crew.chores.append(chore)
      crew.members.append("Ada")
      realm.add(crew)
    }
    let long = realm.objects(Chore.self).where { $0.completed == true && $0.progressMinutes > 120 }
    #expect(long.count == 1 && long.first?.assignee == nil)
    #expect(realm.objects(Crew.self).where { $0.crewName == "Kitchen" }.first?.members.first == "Ada")
  }

  @Test @MainActor func `a realm is copied to another file, which then changes independently`() throws {
    func addExampleData(config: Realm.Configuration) -> Realm {
      let localConfig = config
      let localRealm = try! Realm(configuration: localConfig)
      let first = Errand(value: ["name": "Buy bread", "owner": "Ada"])
      let second = Errand(value: ["name": "Post the letter", "owner": "Ada"])
      let third = Errand(value: ["name": "Return the book", "owner": "Ada"])
      try! localRealm.write {
        localRealm.add([first, second, third])
      }
      return localRealm
    }
    let (source, target) = (TemporaryFile(), TemporaryFile())
    var sourceConfig = Realm.Configuration()
    sourceConfig.fileURL = source.url
    sourceConfig.objectTypes = [Errand.self]
    let sourceRealm = addExampleData(config: sourceConfig)
    let sourceErrands = sourceRealm.objects(Errand.self)
    var adasErrands = sourceErrands.where { $0.owner == "Ada" }
    #expect(adasErrands.count == 3)
    var localConfig = Realm.Configuration()
    localConfig.objectTypes = [Errand.self]
    localConfig.fileURL = target.url
    localConfig.schemaVersion = 1
    for _ in 0..<2 {
      if Realm.fileExists(for: localConfig) {
        try Realm.deleteFiles(for: localConfig)
      }
      try sourceRealm.writeCopy(configuration: localConfig)
    }
    let localRealm = try Realm(configuration: localConfig)
    let localErrands = localRealm.objects(Errand.self)
    var adasLocalErrands = localErrands.where { $0.owner == "Ada" }
    #expect(adasLocalErrands.count == 3)
    let errand = Errand(value: ["name": "Bring flowers", "owner": "Ada"])
    try! localRealm.write {
      localRealm.add(errand)
    }
    adasLocalErrands = localErrands.where { $0.owner == "Ada" }
    adasErrands = sourceErrands.where { $0.owner == "Ada" }
    #expect(adasLocalErrands.count == 4 && adasErrands.count == 3)
    #expect("\(localRealm)".contains("Realm"))
  }
}
