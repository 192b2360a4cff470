// Answers: Ada 1
import Foundation
import RealmSwift

@globalActor private actor DatabaseActor {
  static let shared = DatabaseActor()
}

@DatabaseActor private enum Database {
  static var realm: Realm?

  static func open() async throws -> Int {
    let realm = try await Realm(configuration: memory(), actor: DatabaseActor.shared)
    try await realm.asyncWrite { realm.add(Person(1, "Ada")) }
    self.realm = realm
    return realm.objects(Person.self).count
  }
}

@DatabaseActor func globalActor() async throws -> String {
  let count = try await Database.open()
  await Task.yield()
  return "\(Database.realm?.objects(Person.self).first?.name ?? "") \(count)"
}
