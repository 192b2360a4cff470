// Refused: sending
import Foundation
import RealmSwift

extension Store {
  func people() -> sending Results<Person> { realm.objects(Person.self) }
}
