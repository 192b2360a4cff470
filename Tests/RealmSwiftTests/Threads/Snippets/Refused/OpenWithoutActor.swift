// Refused: 'nil' is not compatible with expected argument type 'any Actor'
import Foundation
import RealmSwift

nonisolated func snippet() async throws {
  let realm = try await Realm.open(configuration: memory())
  print(realm.isEmpty)
}
