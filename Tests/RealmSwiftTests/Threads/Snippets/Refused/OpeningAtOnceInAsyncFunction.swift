// Refused: 'nil' is not compatible | outside of the actor
import Foundation
import RealmSwift

nonisolated func snippet() async throws {
  let realm = try Realm(configuration: memory())
  await Task.yield()
  print(realm.isEmpty)
}
