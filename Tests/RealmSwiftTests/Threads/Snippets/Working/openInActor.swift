// Answers: Ada
import Foundation
import RealmSwift

private actor Owner {
  private var realm: Realm?

  func open() async throws { realm = try await Realm(configuration: memory()) }

  func name() async throws -> String {
    guard let realm else { return "" }
    let person = try await realm.asyncWrite { realm.create(Person.self, value: [1, "Ada"]) }
    await Task.yield()
    return person.name
  }
}

func openInActor() async throws -> String {
  let owner = Owner()
  try await owner.open()
  return try await owner.name()
}
