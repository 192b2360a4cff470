// Refused: stored property 'realm' of 'Sendable'-conforming class
import Foundation
import RealmSwift

final class Box: Sendable {
  let realm: Realm
  init(_ realm: Realm) { self.realm = realm }
}
