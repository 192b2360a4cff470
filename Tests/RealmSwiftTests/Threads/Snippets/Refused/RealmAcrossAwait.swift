// Refused: sending
import Foundation
import RealmSwift

nonisolated func work(_ realm: Realm) async {
  await Task.yield()
  print(realm.isEmpty)
}

@MainActor func snippet(_ realm: Realm) async { await work(realm) }
