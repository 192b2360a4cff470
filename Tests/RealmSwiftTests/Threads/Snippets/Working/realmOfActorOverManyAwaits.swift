// Answers: 101
import Foundation
import RealmSwift

extension Store {
  fileprivate func fill() async throws -> Int {
    let people = realm.objects(Person.self)
    for id in 2..<102 {
      let before = people.count
      await Task.yield()
      guard people.count == before else { return -1 }
      try await add(id, "\(id)")
    }
    return people.count
  }
}

func realmOfActorOverManyAwaits() async throws -> String {
  let store = Store()
  try await store.open()
  return String(try await store.fill())
}
