// Refused: User.functions is not there yet. Write an object to a synced realm
import Foundation
import RealmSwift

func snippet(_ user: User) async throws {
  user.functions.sum([1, 2]) { sum, error in print(sum ?? 0, error ?? "") }
  print(try await user.functions.sum(1, 2))
}
