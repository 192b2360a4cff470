// Refused: sending
import Foundation
import RealmSwift

extension Store {
  func snippet(_ reader: Reader) async {
    print(await reader.names(realm.objects(Person.self).filter("id > 1")))
  }
}
