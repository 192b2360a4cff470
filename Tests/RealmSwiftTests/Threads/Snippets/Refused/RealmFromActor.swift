// Refused: non-Sendable
import Foundation
import RealmSwift

func snippet(_ store: Store) async {
  let realm = await store.realm!
  print(realm.isEmpty)
}
