import Dispatch
import Foundation
import RealmSwift
import Testing

@Suite struct AutorefreshTests {
  private func write(_ configuration: Realm.Configuration, _ id: Int) throws {
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Person(id: id, name: "", age: 0)) }
    }
  }

  @Test func `a realm of a queue advances when another thread has committed, unless autorefresh is off`()
    throws
  {
    let configuration = try memoryRealm().configuration
    let kept = try Realm(configuration: configuration)
    let queue = DispatchQueue(label: "reader")
    let people = try queue.sync {
      Shared(try Realm(configuration: configuration, queue: queue).objects(Person.self))
    }
    #expect(queue.sync { people.value.count } == 0)
    try write(configuration, 1)
    #expect(queue.sync { people.value.count } == 1)
    queue.sync { people.value.realm?.autorefresh = false }
    try write(configuration, 2)
    #expect(queue.sync { people.value.count } == 1)
    #expect(queue.sync { people.value.realm?.refresh() } == true)
    #expect(queue.sync { people.value.count } == 2)
    withExtendedLifetime(kept) {}
  }

  @Test func `a realm of a thread without a run loop keeps its version`() throws {
    let configuration = try memoryRealm().configuration
    try onThread {
      let realm = try Realm(configuration: configuration)
      let people = realm.objects(Person.self)
      #expect(people.isEmpty && realm.autorefresh)
      try write(configuration, 1)
      #expect(people.isEmpty)
      #expect(realm.refresh() && people.count == 1)
    }
  }

  @Test func `a realm of a thread with a run loop advances when the loop turns`() throws {
    let configuration = try memoryRealm().configuration
    let count = try onThread {
      let (started, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      nonisolated(unsafe) var count = -1
      Thread {
        RunLoop.current.perform {
          let realm = try! Realm(configuration: configuration)
          let people = realm.objects(Person.self)
          #expect(people.isEmpty)
          started.signal()
          let limit = Date(timeIntervalSinceNow: 10)
          while people.isEmpty, Date() < limit {
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
          }
          count = people.count
          done.signal()
        }
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 10))
      }.start()
      started.wait()
      try write(configuration, 1)
      done.wait()
      return count
    }
    #expect(count == 1)
  }

  @Test func `a realm of an actor advances between suspensions`() async throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: UUID().uuidString, objectTypes: [Person.self, Dog.self])
    let actor = RealmActor(configuration)
    try await actor.open()
    #expect(try await actor.run { _, realm in realm.objects(Person.self).count } == 0)
    try write(configuration, 1)
    var count = 0
    for _ in 0..<10_000 where count == 0 {
      await Task.yield()
      count = try await actor.run { _, realm in realm.objects(Person.self).count }
    }
    #expect(count == 1)
  }

  @Test func `a frozen realm never advances`() throws {
    let realm = try memoryRealm()
    let frozen = realm.freeze()
    #expect(!frozen.autorefresh && !frozen.refresh())
    try realm.write { realm.add(Person(id: 1, name: "", age: 0)) }
    #expect(frozen.objects(Person.self).isEmpty)
  }

  @Test func `a realm whose queue is suspended closes when it is released`() throws {
    let configuration = try memoryRealm().configuration
    let queue = DispatchQueue(label: "stopped")
    var realm: Shared<Realm>? = try queue.sync {
      Shared(try Realm(configuration: configuration, queue: queue))
    }
    #expect(queue.sync { realm?.value.isEmpty } == true)
    queue.suspend()
    try write(configuration, 1)
    realm = nil
    // The content of an in-memory realm is lost with the last realm.
    #expect(try Realm(configuration: configuration).isEmpty)
    queue.resume()
  }
}
