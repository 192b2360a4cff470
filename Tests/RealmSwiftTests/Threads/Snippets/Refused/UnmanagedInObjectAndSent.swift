// Refused: sending
import Foundation
import RealmSwift

@MainActor func snippet(_ reader: Reader, _ friend: Person) async {
  let person = Person(2, "Grace")
  person.friends.append(friend)
  print(await reader.name(person))
}
