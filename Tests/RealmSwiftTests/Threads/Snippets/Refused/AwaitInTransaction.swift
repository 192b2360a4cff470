// Refused: async
import Foundation
import RealmSwift

extension Store {
  func snippet() async throws {
    try await realm.asyncWrite {
      await Task.yield()
      realm.deleteAll()
    }
  }
}
