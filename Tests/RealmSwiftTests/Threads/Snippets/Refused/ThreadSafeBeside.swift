// Refused: capture of 'object' with non-Sendable type 'Person'
import Foundation
import RealmSwift

@MainActor func snippet(_ object: Person) {
  @ThreadSafe var person = object
  DispatchQueue.global().async { print(object.name) }
}
