// Refused: 'nil' is not compatible with expected argument type 'any Actor'
import Foundation
import RealmSwift

nonisolated func snippet(_ realm: Realm) async throws {
  try await realm.asyncWrite { realm.deleteAll() }
}
