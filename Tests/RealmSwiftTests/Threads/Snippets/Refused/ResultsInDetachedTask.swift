// Refused: sending
import Foundation
import RealmSwift

extension Store {
  func snippet() {
    let value = realm.objects(Person.self)
    Task.detached { print(value.count) }
  }
}
