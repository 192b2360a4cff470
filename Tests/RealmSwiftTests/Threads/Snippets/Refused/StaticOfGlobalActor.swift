// Refused: main actor-isolated static property 'realm'
import Foundation
import RealmSwift

enum Database {
  @MainActor static var realm: Realm?
}

func snippet() { print(Database.realm == nil) }
