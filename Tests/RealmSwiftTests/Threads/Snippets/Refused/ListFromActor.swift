// Refused: non-Sendable
import Foundation
import RealmSwift

extension Store {
  func friends() -> List<Person> { ada.friends }
}

func snippet(_ store: Store) async {
  let friends = await store.friends()
  print(friends.count)
}
