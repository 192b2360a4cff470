import Dispatch
import Foundation
import RealmSwift
import Testing

/// The events of an observer, which another thread may read.
final class Heard<Event>: @unchecked Sendable {
  // Sendable: under its lock.
  private let lock = NSCondition()
  private var events: [Event] = []

  func add(_ event: Event) {
    lock.lock()
    events.append(event)
    lock.broadcast()
    lock.unlock()
  }

  /// Waits until there are at least `count` events.
  ///
  /// - Returns: All events at that time.
  func wait(_ count: Int, seconds: Double = 120) -> [Event] {
    lock.lock()
    defer { lock.unlock() }
    let limit = Date(timeIntervalSinceNow: seconds)
    while events.count < count, lock.wait(until: limit) {}
    return events
  }

  /// Waits in a task until there are at least `count` events. It counts its looks instead of the time, because other
  /// tests may block all threads of tasks for long.
  func reach(_ count: Int, looks: Int = 5_000) async -> [Event] {
    for _ in 0..<looks where all.count < count { try? await Task.sleep(for: .milliseconds(2)) }
    return all
  }

  var all: [Event] {
    lock.lock()
    defer { lock.unlock() }
    return events
  }
}

/// A change in short: the places of deletions, insertions and modifications.
struct Changed: Equatable, Sendable {
  var deletions: [Int] = []
  var insertions: [Int] = []
  var modifications: [Int] = []
  var isInitial = false
  var isError = false
  var count = 0

  static func initial(_ count: Int) -> Changed { Changed(isInitial: true, count: count) }
  static func update(
    _ count: Int, _ deletions: [Int] = [], _ insertions: [Int] = [], _ modifications: [Int] = []
  )
    -> Changed
  {
    Changed(deletions: deletions, insertions: insertions, modifications: modifications, count: count)
  }

  init(
    deletions: [Int] = [], insertions: [Int] = [], modifications: [Int] = [], isInitial: Bool = false,
    count: Int = 0
  ) {
    (self.deletions, self.insertions, self.modifications) = (deletions, insertions, modifications)
    (self.isInitial, self.count) = (isInitial, count)
  }

  init<C: RealmCollection>(_ change: RealmCollectionChange<C>) {
    switch change {
    case .initial(let collection): self.init(isInitial: true, count: collection.count)
    case .update(let collection, let deletions, let insertions, let modifications):
      self.init(
        deletions: deletions, insertions: insertions, modifications: modifications, count: collection.count)
    case .error:
      self.init()
      isError = true
    }
  }
}

/// A realm of a queue, in which tests write and observe.
final class QueueRealm: @unchecked Sendable {
  // Sendable: used on the queue.
  let queue = DispatchQueue(label: "observed")
  let configuration: Realm.Configuration
  private var kept: Realm!

  init(_ configuration: Realm.Configuration) throws {
    self.configuration = configuration
    try queue.sync { kept = try Realm(configuration: configuration, queue: queue) }
  }

  deinit { queue.sync { kept = nil } }

  func run<Result>(_ body: (Realm) throws -> Result) rethrows -> Result { try queue.sync { try body(kept) } }

  func write(_ body: (Realm) throws -> Void) throws {
    try run { realm in try realm.write { try body(realm) } }
  }

  /// Returns when the observers of this realm have heard of all commits. A new observer is called after them.
  func settle() {
    guard run({ $0.autorefresh }), let type = configuration.objectTypes?.first as? Object.Type else {
      return Thread.sleep(forTimeInterval: 0.1)
    }
    let heard = Heard<Void>()
    let token = observe(type) { heard.add(()) }
    _ = heard.wait(1)
    token.invalidate()
  }

  private func observe<Observed: Object>(
    _ type: Observed.Type, _ told: @escaping () -> Void
  ) -> NotificationToken {
    run { realm in realm.objects(type).observe { _ in told() } }
  }
}

@Suite struct ObservingTests {
  private func memory(_ types: [ObjectBase.Type] = [Person.self, Dog.self]) throws -> QueueRealm {
    try QueueRealm(Realm.Configuration(inMemoryIdentifier: "observed \(UUID())", objectTypes: types))
  }

  @Test func `an observer of results gets their present state, and then their changes`() throws {
    let realm = try memory()
    let heard = Heard<Changed>()
    try realm.write { for id in 0..<4 { $0.add(Person(id: id, name: "n\(id)", age: id)) } }
    let token = realm.run { realm in
      realm.objects(Person.self).observe { heard.add(Changed($0)) }
    }
    #expect(heard.wait(1) == [.initial(4)])
    try realm.write { $0.object(ofType: Person.self, forPrimaryKey: 2)?.age = 20 }
    #expect(heard.wait(2).last == .update(4, [], [], [2]))
    try realm.write {
      $0.add(Person(id: 9, name: "new", age: 1))
      $0.delete($0.object(ofType: Person.self, forPrimaryKey: 1)!)
      $0.object(ofType: Person.self, forPrimaryKey: 3)?.name = "x"
    }
    #expect(heard.wait(3).last == .update(4, [1], [3], [3]))
    token.invalidate()
    try realm.write { $0.deleteAll() }
    realm.settle()
    #expect(heard.all.count == 3)
  }

  @Test func `an observer of a filtered and sorted result hears of insertions, deletions and moves`() throws {
    let realm = try memory()
    let heard = Heard<Changed>()
    try realm.write { for id in 0..<100 { $0.add(Person(id: id, name: "n", age: id)) } }
    let token = realm.run { realm in
      realm.objects(Person.self).where { $0.age >= 50 }.sorted(byKeyPath: "age", ascending: false)
        .observe { heard.add(Changed($0)) }
    }
    #expect(heard.wait(1) == [.initial(50)])
    // The object 99 is the first one, and the object 50 is the last one, with the index 49.
    try realm.write { $0.object(ofType: Person.self, forPrimaryKey: 10)?.age = 200 }
    #expect(heard.wait(2).last == .update(51, [], [0]))
    try realm.write { $0.object(ofType: Person.self, forPrimaryKey: 99)?.age = 0 }
    #expect(heard.wait(3).last == .update(50, [1], []))
    try realm.write { $0.object(ofType: Person.self, forPrimaryKey: 50)?.age = 300 }
    #expect(heard.wait(4).last == .update(50, [49], [0]))
    try realm.write { $0.object(ofType: Person.self, forPrimaryKey: 60)?.name = "y" }
    #expect(heard.wait(5).last == .update(50, [], [], [40]))
    token.invalidate()
  }

  @Test func `changes of other threads are told together with the version that has them`() throws {
    let realm = try memory()
    let heard = Heard<Changed>()
    let configuration = realm.configuration
    let token = realm.run { realm in realm.objects(Person.self).observe { heard.add(Changed($0)) } }
    #expect(heard.wait(1) == [.initial(0)])
    for id in 0..<50 {
      try onThread {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(Person(id: id, name: "", age: 0)) }
      }
    }
    let limit = Date(timeIntervalSinceNow: 120)
    while heard.all.last?.count != 50, Date() < limit { Thread.sleep(forTimeInterval: 0.01) }
    var count = 0
    for change in heard.all.dropFirst() {
      count += change.insertions.count
      #expect(change.count == count && change.deletions.isEmpty)
    }
    #expect(count == 50)
    withExtendedLifetime(token) {}
  }

  @Test func `elements change with objects four links away, or with the objects that key paths name`() throws
  {
    let realm = try memory()
    let (all, named) = (Heard<Changed>(), Heard<Changed>())
    try realm.write { realm in
      let far = Dog(value: ["name": "far"])
      var dog = Dog(value: ["name": "4", "friend": far] as [String: Any])
      for name in ["3", "2"] { dog = Dog(value: ["name": name, "friend": dog] as [String: Any]) }
      let person = Person(id: 1, name: "", age: 0)
      person.dog = dog
      realm.add(person)
    }
    let tokens = realm.run { realm in
      [
        realm.objects(Person.self).observe { all.add(Changed($0)) },
        realm.objects(Person.self).observe(keyPaths: ["dog.friend.name"]) { named.add(Changed($0)) },
      ]
    }
    #expect(all.wait(1).count == 1 && named.wait(1).count == 1)
    func rename(_ name: String) throws {
      try realm.write { $0.objects(Dog.self).where { $0.name == name }.first?.weight += 1 }
      realm.settle()
    }
    try rename("4")
    #expect(all.all.last == .update(1, [], [], [0]) && all.all.count == 2 && named.all.count == 1)
    try rename("far")
    #expect(all.all.count == 3)
    try realm.write { $0.objects(Dog.self).where { $0.name == "3" }.first?.name = "three" }
    #expect(named.wait(2).last == .update(1, [], [], [0]))
    try realm.write { realm in
      let person = realm.objects(Person.self)[0]
      // This adds one more link.
      person.dog = Dog(value: ["name": "1", "friend": person.dog!] as [String: Any])
    }
    #expect(named.wait(3).count == 3)
    let before = all.wait(5).count
    try rename("far")
    #expect(all.all.count == before)
    withExtendedLifetime(tokens) {}
  }

  @Test func `changes of lists, sets, maps and linking objects are told by element and by key`() throws {
    let realm = try memory([Person.self, Dog.self, Household.self, Address.self, Room.self])
    let (words, dogs, people) = (Heard<Changed>(), Heard<Changed>(), Heard<Changed>())
    let keys = Heard<[[String]]>()
    try realm.write { realm in
      let person = Person(id: 1, name: "", age: 0)
      person.words.append(objectsIn: ["a", "b", "c"])
      person.dogs.append(objectsIn: [Dog(value: ["name": "A"]), Dog(value: ["name": "B"])])
      realm.add(person)
      realm.add(Household(value: ["id": 1, "byName": ["x": ["street": "X"], "y": ["street": "Y"]]]))
    }
    let tokens = realm.run { realm in
      let person = realm.objects(Person.self)[0]
      return [
        person.words.observe { words.add(Changed($0)) },
        person.dogs.observe { dogs.add(Changed($0)) },
        person.dogs[0].people.observe { people.add(Changed($0)) },
        realm.objects(Household.self)[0].byName.observe { change in
          switch change {
          case .initial(let map): keys.add([map.keys])
          case .update(_, let deletions, let insertions, let modifications):
            keys.add([deletions, insertions, modifications])
          case .error: keys.add([])
          }
        },
      ]
    }
    #expect(
      words.wait(1) == [.initial(3)] && dogs.wait(1) == [.initial(2)] && people.wait(1) == [.initial(1)])
    #expect(keys.wait(1) == [[["x", "y"]]])
    try realm.write { realm in
      let person = realm.objects(Person.self)[0]
      person.words[1] = "B"
      person.words.append("d")
      person.dogs[1].name = "BB"
      person.dogs.swapAt(0, 1)
      let map = realm.objects(Household.self)[0].byName
      map["x"]??.street = "XX"
      map["z"] = Address(value: ["street": "Z"])
    }
    #expect(words.wait(2).last == .update(4, [], [3], [1]))
    #expect(dogs.wait(2).last?.deletions.count == 1 && dogs.all.last?.insertions.count == 1)
    #expect(keys.wait(2).last == [[], ["z"], ["x"]])
    try realm.write { realm in
      realm.objects(Person.self)[0].dogs.removeAll()
      realm.objects(Household.self)[0].byName.removeObject(for: "y")
    }
    #expect(dogs.wait(3).last == .update(0, [0, 1]))
    #expect(people.wait(3).last == .update(0, [0]))
    #expect(keys.wait(3).last == [["y"], [], []])
    withExtendedLifetime(tokens) {}
  }

  @Test func `an object's observer hears of its properties with their values, and of its deletion`() throws {
    let realm = try memory()
    let heard = Heard<String>()
    try realm.write { $0.add(Person(id: 1, name: "Ann", age: 30)) }
    let token = realm.run { realm in
      realm.objects(Person.self)[0].observe { change in
        switch change {
        case .change(let person, let changes):
          let words = changes.map { "\($0.name) \($0.oldValue ?? "nil")->\($0.newValue ?? "nil")" }
          heard.add("\(person.id): " + words.joined(separator: ", "))
        case .deleted: heard.add("deleted")
        case .error(let error): heard.add("\(error)")
        }
      }
    }
    try realm.write { realm in
      let person = realm.objects(Person.self)[0]
      (person.name, person.height, person.mood) = ("Bea", 1.5, .merry)
      person.words.append("x")
    }
    #expect(heard.wait(1) == ["1: name Ann->Bea, height nil->1.5, mood calm->merry, words nil->nil"])
    try realm.write { $0.deleteAll() }
    #expect(heard.wait(2).last == "deleted")
    #expect(heard.all.count == 2)
    withExtendedLifetime(token) {}
  }

  @Test func `an observer that a write leaves out does not hear of it, and hears of the next write`() throws {
    let realm = try memory()
    let (left, other) = (Heard<Changed>(), Heard<Changed>())
    let tokens = realm.run { realm in
      [
        realm.objects(Person.self).observe { left.add(Changed($0)) },
        realm.objects(Person.self).observe { other.add(Changed($0)) },
      ]
    }
    #expect(left.wait(1).count == 1 && other.wait(1).count == 1)
    try realm.run { realm in
      try realm.write(withoutNotifying: [tokens[0]]) { realm.add(Person(id: 5, name: "", age: 0)) }
    }
    #expect(other.wait(2).last == .update(1, [], [0]))
    try realm.write { realm in realm.objects(Person.self)[0].age = 1 }
    #expect(other.wait(3).last == .update(1, [], [], [0]))
    #expect(left.wait(2).dropFirst() == [.update(1, [], [], [0])])
  }

  @Test func `the block of an observer may write, and other observers hear of earlier changes first`() throws
  {
    let realm = try memory()
    let (first, second) = (Heard<Changed>(), Heard<Changed>())
    let tokens = realm.run { realm in
      [
        realm.objects(Person.self).observe { change in
          first.add(Changed(change))
          if case .update(let people, _, let insertions, _) = change, !insertions.isEmpty, people.count < 4 {
            try! people.realm!.write { people.realm!.add(Person(id: people.count, name: "", age: 0)) }
          }
        },
        realm.objects(Person.self).observe { second.add(Changed($0)) },
      ]
    }
    _ = (first.wait(1), second.wait(1))
    try realm.write { $0.add(Person(id: 0, name: "", age: 0)) }
    #expect(first.wait(5).map(\.count) == [0, 1, 2, 3, 4])
    #expect(second.wait(5).map(\.count) == [0, 1, 2, 3, 4])
    #expect(second.all.dropFirst().allSatisfy { $0.insertions.count == 1 })
    withExtendedLifetime(tokens) {}
  }

  @Test func `a realm's observer hears that the realm was written, and that it has moved`() throws {
    let realm = try memory()
    let heard = Heard<Realm.Notification>()
    let configuration = realm.configuration
    let token = realm.run { realm in
      _ = realm.objects(Person.self).count
      return realm.observe { notification, _ in heard.add(notification) }
    }
    try realm.write { $0.add(Person(id: 0, name: "", age: 0)) }
    #expect(heard.all == [.didChange])
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Person(id: 1, name: "", age: 0)) }
    }
    #expect(heard.wait(2) == [.didChange, .didChange])
    realm.run { $0.autorefresh = false }
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Person(id: 2, name: "", age: 0)) }
    }
    #expect(heard.wait(3).last == .refreshRequired)
    token.invalidate()
    realm.run { _ = $0.refresh() }
    #expect(heard.all.count == 3)
  }

  @Test func `observers are called on another queue, and in an actor`() async throws {
    let realm = try memory()
    let (queued, acted) = (Heard<Changed>(), Heard<Changed>())
    let queue = DispatchQueue(label: "other")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let token = realm.run { realm in
      realm.objects(Person.self).observe(on: queue) { change in
        #expect(DispatchQueue.getSpecific(key: key) == true)
        queued.add(Changed(change))
      }
    }
    let watcher = Watcher(realm.configuration)
    try await watcher.watch { acted.add($0) }
    #expect(await queued.reach(1) == [.initial(0)])
    #expect(await acted.reach(1) == [.initial(0)])
    try realm.write { $0.add(Person(id: 0, name: "", age: 0)) }
    #expect(await queued.reach(2).last == .update(1, [], [0]))
    #expect(await acted.reach(2).last == .update(1, [], [0]))
    await watcher.stop()
    withExtendedLifetime(token) {}
  }
}

private actor Watcher {
  private let configuration: Realm.Configuration
  private var token: NotificationToken?

  init(_ configuration: Realm.Configuration) { self.configuration = configuration }

  func watch(_ heard: @escaping @Sendable (Changed) -> Void) async throws {
    let realm = try await Realm(configuration: configuration, actor: self)
    token = await realm.objects(Person.self).observe(on: self) { actor, change in
      actor.preconditionIsolated()
      heard(Changed(change))
    }
  }

  func stop() { token = nil }
}
