// Answers: Ada 1 true
import Foundation
import RealmSwift

extension Store {
  fileprivate func reference() -> ThreadSafeReference<Results<Person>> {
    ThreadSafeReference(to: realm.objects(Person.self).filter("name BEGINSWITH 'A'"))
  }
  fileprivate func resolve(_ reference: ThreadSafeReference<Results<Person>>) async -> String {
    guard let people = realm.resolve(reference) else { return "gone" }
    await Task.yield()
    return "\(people[0].name) \(people.count) \(reference.isInvalidated)"
  }
}

func referenceBetweenActors() async throws -> String {
  let configuration = memory()
  let (sender, receiver) = (Store(configuration), Store(configuration))
  try await sender.open()
  try await receiver.open()
  return await receiver.resolve(await sender.reference())
}
