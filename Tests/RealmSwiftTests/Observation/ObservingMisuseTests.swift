import Dispatch
import Foundation
import RealmSwift
import Testing

@Suite struct ObservingMisuseTests {
  private static func memory() -> Realm.Configuration {
    Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Person.self, Dog.self])
  }

  private func expectStop(_ parts: [String], _ body: @escaping @Sendable () throws -> Void) {
    MisuseTests().expectStop(parts, body)
  }

  private func expectStop(
    ofQueue parts: [String], _ configuration: Realm.Configuration = memory(),
    _ body: @escaping @Sendable (Realm) throws -> Void
  ) {
    expectStop(parts) {
      // The realm belongs to a queue and is used on the thread that stops.
      let queue = DispatchQueue(label: "misuse")
      try queue.sync { try body(try Realm(configuration: configuration, queue: queue)) }
    }
  }

  @Test func `unmanaged objects and frozen realms can't be observed`() {
    expectStop(["Unmanaged object", "can't be observed"]) { _ = Person().observe { _ in } }
    expectStop(["Unmanaged object", "can't be observed"]) { _ = Person().words.observe { _ in } }
    expectStop(ofQueue: ["Frozen realm", "thaw()"]) { realm in
      _ = realm.objects(Person.self).freeze().observe { _ in }
    }
    expectStop(ofQueue: ["Frozen realm", "thaw()"]) { realm in _ = realm.freeze().observe { _, _ in } }
  }

  @Test func `a read-only realm can't be observed`() throws {
    let file = TemporaryFile()
    var configuration = file.configuration
    configuration.objectTypes = [Person.self, Dog.self]
    try autoreleasepool { _ = try Realm(configuration: configuration) }
    configuration.readOnly = true
    let readOnly = configuration
    expectStop(ofQueue: ["Read-only realm", "readOnly"], readOnly) { realm in
      _ = realm.objects(Person.self).observe { _ in }
    }
  }

  @Test func `a thread without a run loop can't observe`() {
    expectStop(["Thread without a run loop", "observe(on:)"]) {
      _ = try Realm(configuration: Self.memory()).objects(Person.self).observe { _ in }
    }
    expectStop(["Thread without a run loop"]) {
      _ = try Realm(configuration: Self.memory()).observe { _, _ in }
    }
  }

  @Test func `an observer can't begin after the first change of a transaction`() {
    expectStop(ofQueue: ["Observer in a write transaction"]) { realm in
      realm.beginWrite()
      realm.add(Person())
      _ = realm.objects(Person.self).observe { _ in }
    }
  }

  @Test func `key paths name properties`() {
    expectStop(ofQueue: ["Unknown key path", "'dog.colour'", "Dog has no property 'colour'"]) { realm in
      _ = realm.objects(Person.self).observe(keyPaths: ["dog.colour"]) { _ in }
    }
    expectStop(ofQueue: ["Unknown key path", "Person.name leads to no object"]) { realm in
      _ = realm.objects(Person.self).observe(keyPaths: ["name.first"]) { _ in }
    }
    expectStop(ofQueue: ["Unknown key path", "holds values"]) { realm in
      try realm.write { realm.add(Person(id: 1, name: "", age: 0)) }
      _ = realm.objects(Person.self)[0].words.observe(keyPaths: ["x"]) { _ in }
    }
  }
}
