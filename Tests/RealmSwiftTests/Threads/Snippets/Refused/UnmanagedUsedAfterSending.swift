// Refused: sending
import Foundation
import RealmSwift

func snippet(_ reader: Reader) async {
  let person = Person(2, "Grace")
  print(await reader.name(person))
  person.name = "Alan"
}
