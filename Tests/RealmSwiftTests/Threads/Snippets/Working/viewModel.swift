// Answers: Ada Grace
import Foundation
import RealmSwift

@MainActor private final class Model {
  let realm: Realm
  let people: Results<Person>
  var title: String { people.map(\.name).joined(separator: " ") }

  init() async throws {
    realm = try await Realm(configuration: memory())
    people = realm.objects(Person.self).sorted(byKeyPath: "id")
  }

  func add(_ name: String) async throws {
    try await realm.asyncWrite { realm.add(Person(people.count, name)) }
  }
}

@MainActor func viewModel() async throws -> String {
  let model = try await Model()
  try await model.add("Ada")
  await Task.yield()
  try await model.add("Grace")
  return model.title
}
