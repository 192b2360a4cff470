// Refused: sending
import Foundation
import RealmSwift

@MainActor func snippet(_ person: Person, _ reader: Reader) async {
  print(await reader.name(person))
}
