// Refused: sending
import Foundation
import RealmSwift

extension Store {
  func snippet() {
    let value = realm.objects(Person.self).changes()
    Task.detached { for await change in value { print(change) } }
  }
}
