// Refused: is not concurrency-safe
import Foundation
import RealmSwift

enum Database {
  static let realm = try? Realm(configuration: memory())
}
