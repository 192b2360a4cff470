// Refused: stored property 'person' of 'Sendable'-conforming struct
import Foundation
import RealmSwift

struct Row: Sendable {
  let person: Person
}
