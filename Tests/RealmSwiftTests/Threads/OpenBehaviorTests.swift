import Foundation
import RealmSwift
import Testing

@Suite struct OpenBehaviorTests {
  @Test func `realms of actors accept the options that wait for a sync`() async throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: "opened \(UUID())", objectTypes: [Person.self, Dog.self])
    for behavior in [Realm.OpenBehavior.never, .once, .always] {
      #expect(try await Opener().count(configuration, behavior) == 0)
      #expect(try await countOnMain(configuration, behavior) == 0)
    }
  }

  @MainActor private func countOnMain(
    _ configuration: Realm.Configuration, _ behavior: Realm.OpenBehavior
  ) async throws -> Int {
    let realm = try await Realm(configuration: configuration, downloadBeforeOpen: behavior)
    let confined: any ThreadConfined = realm.objects(Person.self)
    #expect(!confined.isFrozen)
    return realm.objects(Person.self).count
  }
}

private actor Opener {
  func count(_ configuration: Realm.Configuration, _ behavior: Realm.OpenBehavior) async throws -> Int {
    let realm = try await Realm(configuration: configuration, actor: self, downloadBeforeOpen: behavior)
    return realm.objects(Person.self).count
  }
}
