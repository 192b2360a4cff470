// Refused: capture of 'person' with non-Sendable type 'Person'
import Foundation
import RealmSwift

@MainActor func snippet(_ person: Person) {
  DispatchQueue.global().async { print(person.name) }
}
