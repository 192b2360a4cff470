// Answers: 0 true
import Foundation
import RealmSwift

@MainActor func openOnMainActor() async throws -> String {
  let realm = try await Realm(configuration: memory())
  await Task.yield()
  let other = try await Realm.open(configuration: realm.configuration)
  return "\(realm.objects(Person.self).count) \(realm == other)"
}
