import Dispatch
import Foundation
import RealmSwift
import Testing

/// An actor that runs on its own queue, where it may stop for ever without keeping a thread from other tasks.
private actor StoppedActor {
  private final class Executor: SerialExecutor {
    private let queue = DispatchQueue(label: "stopped")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  private let executor = Executor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run(_ body: @Sendable (isolated StoppedActor) async throws -> Void) async throws {
    try await body(self)
  }
}

extension MisuseTests {
  /// Checks a misuse as `expectStop` does, in code of an actor.
  private func expectStopOfActor(
    _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (isolated StoppedActor) async throws -> Void
  ) {
    expectStop(expected, sourceLocation: sourceLocation) {
      nonisolated(unsafe) var failure: (any Error)?
      let done = DispatchSemaphore(value: 0)
      Task {
        do { try await StoppedActor().run(body) } catch { failure = error }
        done.signal()
      }
      done.wait()
      if let failure { throw failure }
    }
  }

  private static func person() throws -> Person { try realm().objects(Person.self)[0] }

  // MARK: - Places

  @Test
  func `an object, collection or realm that is used on another thread stops the program with a remedy`()
    throws
  {
    let expected = [
      "Wrong thread", "belongs to the thread that opened it", "freeze()", "ThreadSafeReference",
    ]
    let uses: [@Sendable (Realm, Person) throws -> Void] = [
      { _, person in _ = person.name }, { _, person in _ = person.dogs.count },
      { realm, _ in _ = realm.objects(Person.self).count }, { realm, _ in realm.refresh() },
      { realm, _ in try realm.write {} }, { realm, _ in _ = realm.freeze() },
      { _, person in _ = person.freeze() }, { _, person in _ = ThreadSafeReference(to: person) },
      { realm, _ in realm.writeAsync {} }, { _, person in _ = person.words.freeze() },
    ]
    for use in uses {
      expectStop(expected) {
        nonisolated(unsafe) let realm = try Self.realm()
        nonisolated(unsafe) let person = realm.objects(Person.self)[0]
        try onThread { try use(realm, person) }
      }
    }
  }

  @Test func `a realm of a queue and a realm of an actor stop elsewhere, and the message names their place`()
    throws
  {
    expectStop(["Wrong thread", "the queue of realms", "freeze()"]) {
      let queue = DispatchQueue(label: "of realms")
      nonisolated(unsafe) let realm = try queue.sync {
        try Realm(configuration: Self.inMemory(), queue: queue)
      }
      _ = realm.objects(Person.self).count
    }
    expectStopOfActor(["Wrong thread", "the actor StoppedActor", "freeze()"]) { actor in
      nonisolated(unsafe) let realm = try await Realm(configuration: Self.inMemory(), actor: actor)
      try onThread { _ = realm.objects(Person.self).count }
    }
  }

  private static func inMemory() -> Realm.Configuration {
    Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Person.self, Dog.self])
  }

  @Test func `a concurrent queue can't have a realm`() {
    expectStop(["Concurrent queue", "of many", "serial queue"]) {
      let queue = DispatchQueue(label: "of many", attributes: .concurrent)
      _ = try Realm(configuration: Self.inMemory(), queue: queue)
    }
    expectStop(["Concurrent queue", "serial queue"]) {
      _ = try Realm(configuration: Self.inMemory(), queue: .global())
    }
    expectStop(["Concurrent queue", "of many", "serial queue"]) {
      let queue = DispatchQueue(label: "of many", attributes: .concurrent)
      Realm.asyncOpen(configuration: Self.inMemory(), callbackQueue: queue) { _ in }
    }
  }

  // MARK: - References

  @Test func `a reference that can't be resolved stops the program`() {
    expectStop(["Reference that was resolved", "Person", "once", "@ThreadSafe"]) {
      let realm = try Self.realm()
      let reference = ThreadSafeReference(to: realm.objects(Person.self)[0])
      _ = realm.resolve(reference)
      _ = realm.resolve(reference)
    }
    expectStop(["Reference of another realm", "Person", "can't be resolved"]) {
      let (realm, other) = (try Self.realm(), try Self.realm())
      _ = other.resolve(ThreadSafeReference(to: realm.objects(Person.self)))
    }
    expectStop(["Frozen realm", "Person", "live"]) {
      let realm = try Self.realm()
      _ = realm.freeze().resolve(ThreadSafeReference(to: realm.objects(Person.self)[0]))
    }
  }

  @Test func `an unmanaged object can't be frozen, thawed or referred to`() {
    expectStop(["Unmanaged object", "Person", "frozen", "add it"]) { _ = Person().freeze() }
    expectStop(["Unmanaged object", "Person", "thawed", "add it"]) { _ = Person().thaw() }
    expectStop(["Unmanaged object", "List<Int>", "frozen", "add it"]) { _ = List<Int>().freeze() }
    expectStop(["Unmanaged object", "Dog", "referred to", "add it"]) { _ = ThreadSafeReference(to: Dog()) }
    expectStop(["Unmanaged object", "Dog", "@ThreadSafe", "add it"]) {
      @ThreadSafe var dog = Dog()
      _ = dog
    }
    expectStop(["Invalidated object", "Person", "frozen", "isInvalidated"]) {
      let realm = try Self.realm()
      let person = realm.objects(Person.self)[0]
      try realm.write { realm.delete(person) }
      _ = person.freeze()
    }
  }

  // MARK: - Frozen things

  @Test func `an object of an open transaction is frozen after the commit`() {
    expectStop(["Uncommitted object", "Person", "after the commit"]) {
      let realm = try Self.realm()
      try realm.write { _ = realm.create(Person.self, value: ["id": 2]).freeze() }
    }
    expectStop(["Uncommitted object", "List<String>", "after the commit"]) {
      let realm = try Self.realm()
      try realm.write { _ = realm.create(Person.self, value: ["id": 2]).words.freeze() }
    }
  }

  @Test func `a frozen object can't be changed, and the message says how to change it`() {
    let changes: [@Sendable (Person) throws -> Void] = [
      { $0.name = "new" }, { $0.words.append("new") }, { $0.dog = Dog() }, { $0.dogs.removeAll() },
      { $0["age"] = 3 },
    ]
    for change in changes {
      expectStop(["Frozen object", "Person.", "thaw()", "realm.write"]) {
        try change(try Self.person().freeze())
      }
    }
    let uses: [@Sendable (Realm) throws -> Void] = [
      { try $0.write {} }, { $0.beginWrite() }, { $0.writeAsync {} },
    ]
    for use in uses {
      expectStop(["Frozen realm", "thaw()"]) { try use(try Self.realm().freeze()) }
    }
    expectStop(["Frozen object", "thaw()"]) {
      let frozen = try Self.person().freeze()
      frozen.realm?.delete(frozen)
    }
  }

  // MARK: - Writing later

  @Test func `an asynchronous transaction can't begin on a thread without a run loop`() {
    expectStop(["Thread without a run loop", "realm.write", "Realm(queue:)"]) {
      try Self.realm().writeAsync {}
    }
    expectStop(["Thread without a run loop", "realm.write"]) { try Self.realm().beginAsyncWrite {} }
    expectStop(["Thread without a run loop", "realm.write"]) {
      let realm = try Self.realm()
      realm.beginWrite()
      realm.commitAsyncWrite()
    }
    expectStop(["Not in a write transaction", "commit"]) {
      let queue = DispatchQueue(label: "writes")
      try queue.sync {
        let realm = try Realm(configuration: Self.inMemory(), queue: queue)
        realm.commitAsyncWrite()
      }
    }
  }

  @Test func `tasks write realms of their actor, and only writable ones`() {
    expectStopOfActor(["Realm without an actor", "asyncWrite", "belongs to the thread", "Realm(actor: self)"])
    {
      actor in
      let realm = try actor.realmOfThread()
      try await realm.asyncWrite {}
    }
    expectStopOfActor([
      "Realm without an actor", "asyncRefresh", "belongs to the thread", "Realm(actor: self)",
    ]) {
      actor in
      let realm = try actor.realmOfThread()
      await realm.asyncRefresh()
    }
    expectStopOfActor(["Frozen realm", "thaw()"]) { actor in
      let realm = try await Realm(configuration: Self.inMemory(), actor: actor).freeze()
      try await realm.asyncWrite {}
    }
    expectStopOfActor(["Read-only realm", "readOnly", "open it without"]) { actor in
      let file = TemporaryFile()
      var configuration = file.configuration
      configuration.objectTypes = [Person.self, Dog.self]
      _ = try await Realm(configuration: configuration, actor: actor)
      configuration.readOnly = true
      let realm = try await Realm(configuration: configuration, actor: actor)
      try await realm.asyncWrite {}
    }
  }
}

extension StoppedActor {
  /// A realm of the thread that the actor happens to run on.
  fileprivate func realmOfThread() throws -> Realm { try memoryRealm([Person.self, Dog.self]) }
}
