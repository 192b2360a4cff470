// Refused: capture of 'people' with non-Sendable type 'Results<Person>'
import Foundation
import RealmSwift

@MainActor func snippet(_ people: Results<Person>) {
  DispatchQueue.global().async { print(people.count) }
}
