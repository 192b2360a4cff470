// Refused: non-Sendable
import Foundation
import RealmSwift

@MainActor func snippet(_ store: Store) async throws {
  let realm = try await Realm(configuration: memory(), actor: store)
  print(realm.isEmpty)
}
