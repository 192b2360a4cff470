// Refused: associated value 'people' of 'Sendable'-conforming enum
import Foundation
import RealmSwift

enum Message: Sendable {
  case people(Results<Person>)
}
