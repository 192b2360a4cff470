import Dispatch
import Foundation
import RealmSwift
import Synchronization
import Testing

/// An actor with a realm of its own.
actor RealmActor {
  private(set) var realm: Realm!
  let configuration: Realm.Configuration

  init(_ configuration: Realm.Configuration) { self.configuration = configuration }

  func open() async throws { realm = try await Realm(configuration: configuration, actor: self) }

  func add(_ id: Int) async throws {
    try await realm.asyncWrite { _ = realm.create(Person.self, value: ["id": id]) }
  }
  func run<Result: Sendable>(_ body: @Sendable (isolated RealmActor, Realm) async throws -> Result)
    async throws -> Result
  {
    try await body(self, realm)
  }
}

/// Lines that several threads write.
final class Notes: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

private func inMemory() -> Realm.Configuration {
  Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Person.self, Dog.self])
}

@Suite struct AsyncWriteTests {
  @Test func `a realm of an actor is written and read across suspensions`() async throws {
    let store = RealmActor(inMemory())
    try await store.open()
    for id in 0..<50 {
      try await store.add(id)
      await Task.yield()
    }
    let count = try await store.run { _, realm in realm.objects(Person.self).count }
    #expect(count == 50)
  }

  @Test func `tasks of one actor take turns in the order in which they came, and see whole transactions`()
    async throws
  {
    let store = RealmActor(inMemory())
    try await store.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in 0..<100 { group.addTask { try await store.add(id) } }
      try await group.waitForAll()
    }
    #expect(try await store.run { _, realm in realm.objects(Person.self).count } == 100)
  }

  @Test func `a block that throws writes nothing, and so does a task that is cancelled before its turn`()
    async throws
  {
    struct Refused: Error {}
    let configuration = inMemory()
    let store = RealmActor(configuration)
    try await store.open()
    await #expect(throws: Refused.self) {
      try await store.run { _, realm in
        try await realm.asyncWrite {
          _ = realm.create(Person.self, value: ["id": 1])
          throw Refused()
        }
      }
    }
    // Another thread holds the lock until the semaphore is signalled.
    let (isOpen, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread {
      let realm = try! Realm(configuration: configuration)
      realm.beginWrite()
      isOpen.signal()
      mayEnd.wait()
      try! realm.commitWrite()
      isOpen.signal()
    }.start()
    await wait(for: isOpen)
    let task = Task { try await store.add(2) }
    while !(try await store.run { _, realm in realm.isPerformingAsynchronousWriteOperations }) {
      await Task.yield()
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let later = Task { try await store.add(3) }
    mayEnd.signal()
    await wait(for: isOpen)
    try await later.value
    #expect(try await store.run { _, realm in realm.objects(Person.self).map(\.id) } == [3])
  }

  @Test
  func `a transaction that begins at once takes the lock that tasks wait for, and the tasks follow`()
    async throws
  {
    let configuration = inMemory()
    let store = RealmActor(configuration)
    try await store.open()
    let (isOpen, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread {
      let realm = try! Realm(configuration: configuration)
      realm.beginWrite()
      isOpen.signal()
      mayEnd.wait()
      try! realm.commitWrite()
    }.start()
    await wait(for: isOpen)
    let tasks = (0..<3).map { id in Task { try await store.add(id) } }
    while !(try await store.run { _, realm in realm.isPerformingAsynchronousWriteOperations }) {
      await Task.yield()
    }
    mayEnd.signal()
    try await store.run { _, realm in
      try realm.write { _ = realm.create(Person.self, value: ["id": 10]) }
    }
    for task in tasks { try await task.value }
    #expect(
      try await store.run { _, realm in realm.objects(Person.self).map(\.id).sorted() } == [0, 1, 2, 10])
  }

  @Test func `blocks of a queue run in order, even nested ones, and completions come after the sync`() throws
  {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).realm")
    defer { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }
    let configuration = Realm.Configuration(fileURL: url, objectTypes: [Person.self, Dog.self])
    let queue = DispatchQueue(label: "writes")
    let lines = Notes()
    @Sendable func note(_ line: String) { lines.add(line) }
    let done = DispatchSemaphore(value: 0)
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      realm.writeAsync({
        note("first")
        realm.create(Person.self, value: ["id": 1])
        realm.writeAsync({
          note("nested")
          realm.create(Person.self, value: ["id": 2])
        }) { error in
          note("nested is sure \(error == nil)")
          done.signal()
        }
      }) { error in
        note("first is sure \(error == nil)")
      }
      realm.beginAsyncWrite {
        note("begun")
        realm.create(Person.self, value: ["id": 3])
      }
      realm.beginAsyncWrite {
        note("begun again")
        realm.create(Person.self, value: ["id": 4])
        realm.commitAsyncWrite(allowGrouping: true) { _ in note("grouped is sure") }
      }
      let cancelled = realm.writeAsync { note("never") }
      try realm.cancelAsyncWrite(cancelled)
      #expect(realm.isPerformingAsynchronousWriteOperations)
      note("given")
    }
    done.wait()
    queue.sync {}
    let seen = lines.all
    #expect(seen.filter { !$0.contains("sure") } == ["given", "first", "begun", "begun again", "nested"])
    #expect(
      Set(seen.filter { $0.contains("sure") }).isSuperset(of: ["first is sure true", "nested is sure true"]))
    #expect(seen.contains("grouped is sure"))
    let ids = try queue.sync {
      try Realm(configuration: configuration, queue: queue).objects(Person.self).map(\.id).sorted()
    }
    #expect(ids == [1, 2, 4])
  }

  @Test
  func `a grouped commit without a later one is synced, and a block that ends its transaction is reported`()
    throws
  {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).realm")
    defer { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }
    let configuration = Realm.Configuration(fileURL: url, objectTypes: [Person.self, Dog.self])
    let queue = DispatchQueue(label: "grouped")
    let done = DispatchSemaphore(value: 0)
    let realm = try queue.sync { Shared(try Realm(configuration: configuration, queue: queue)) }
    queue.sync {
      realm.value.beginWrite()
      realm.value.commitAsyncWrite(allowGrouping: true) { _ in done.signal() }
      realm.value.writeAsync({ realm.value.cancelWrite() }) { _ in done.signal() }
    }
    for _ in 0..<2 { #expect(done.wait(timeout: .now() + 30) == .success) }
    #expect(queue.sync { !realm.value.isPerformingAsynchronousWriteOperations })
  }

  @Test func `a task whose transaction can't begin lets the next one have its turn`() async throws {
    let configuration = inMemory()
    let actor = RealmActor(configuration)
    try await actor.open()
    try await actor.add(1)
    // The number of versions that are read is above the limit in the configuration of the first task.
    let readers = try (0..<3).map { id in
      try onThread {
        let realm = try Realm(configuration: configuration)
        let frozen = Shared(realm.freeze())
        try realm.write { _ = realm.create(Person.self, value: ["id": 10 + id]) }
        return frozen
      }
    }
    var limited = configuration
    limited.maximumNumberOfActiveVersions = 1
    let strict = RealmActor(limited)
    try await strict.open()
    await #expect(throws: Realm.Error.self) { try await strict.add(2) }
    try await actor.add(3)
    #expect(try await actor.run { _, realm in realm.objects(Person.self).count } == 5)
    withExtendedLifetime(readers) {}
  }

  @Test func `an actor that keeps its realm is freed, and its file is closed`() async throws {
    let configuration = inMemory()
    weak var gone: RealmActor?
    do {
      let actor = RealmActor(configuration)
      try await actor.open()
      try await actor.add(1)
      gone = actor
    }
    #expect(gone == nil)
    #expect(try opened(configuration).isEmpty)
  }

  @Test func `all objects for the main queue stand for one queue`() throws {
    let configuration = inMemory()
    let (one, two) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    for done in [one, two] {
      Realm.asyncOpen(configuration: configuration) { result in
        #expect((try? result.get().objects(Person.self).count) == 0)
        done.signal()
      }
    }
    // The main queue calls the callbacks. The program that runs the tests serves it.
    for done in [one, two] { #expect(done.wait(timeout: .now() + 30) == .success) }
  }

  @Test func `realms are opened for the main actor, for an actor, and on a queue with a callback`()
    async throws
  {
    let configuration = inMemory()
    let count = try await openOnMain(configuration)
    #expect(count == 0)
    let queue = DispatchQueue(label: "callback")
    let opened: Int = await withCheckedContinuation { continuation in
      Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
        continuation.resume(returning: (try? result.get())?.objects(Person.self).count ?? -1)
      }
    }
    #expect(opened == 0)
    let task = Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { _ in
      Issue.record("cancelled")
    }
    task.cancel()
    let store = RealmActor(configuration)
    try await store.open()
    #expect(try await store.run { _, realm in await realm.asyncRefresh() } == false)
  }

  @MainActor private func openOnMain(_ configuration: Realm.Configuration) async throws -> Int {
    let realm = try await Realm(configuration: configuration)
    let other = try await Realm.open(configuration: configuration)
    #expect(realm == other)
    try await realm.asyncWrite { _ = realm.create(Person.self, value: ["id": 1]) }
    try await realm.asyncWrite { realm.deleteAll() }
    return realm.objects(Person.self).count
  }

  private func wait(for semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { continuation in
      Thread {
        semaphore.wait()
        continuation.resume()
      }.start()
    }
  }
}
