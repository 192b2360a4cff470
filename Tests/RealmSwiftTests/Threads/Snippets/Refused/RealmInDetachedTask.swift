// Refused: sending
import Foundation
import RealmSwift

extension Store {
  func snippet() {
    let value = realm!
    Task.detached { print(value.objects(Person.self).count) }
  }
}
