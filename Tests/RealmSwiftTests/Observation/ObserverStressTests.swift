import Dispatch
import Foundation
import RealmStorage
import RealmSwift
import RealmTestSupport
import Testing

/// The properties of a person that these tests change.
private struct Look: Equatable, Sendable {
  var id: Int
  var age: Int

  static func all(_ people: Results<Person>) -> [Look] { people.map { Look(id: $0.id, age: $0.age) } }
}

/// The people according to an observer's calls: the initial people, with each change applied.
private final class Patched: @unchecked Sendable {
  // Sendable: used on the queue that the observer is called on; what is heard has a lock.
  let calls = Heard<Void>()
  let faults = Heard<String>()
  private(set) var looks: [Look] = []

  func told(_ change: RealmCollectionChange<Results<Person>>) {
    switch change {
    case .initial(let people):
      if !calls.all.isEmpty { faults.add("what there is first is not told first") }
      looks = Look.all(people)
    case .update(let people, let deletions, let insertions, let modifications):
      patch(Look.all(people), deletions, insertions, modifications)
    case .error(let error): faults.add("\(error)")
    }
    calls.add(())
  }

  private func patch(_ now: [Look], _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
    let change = "-\(deletions) +\(insertions) *\(modifications) from \(looks) to \(now)"
    let count = looks.count - deletions.count + insertions.count
    if deletions.isEmpty, insertions.isEmpty, modifications.isEmpty { faults.add("told of nothing") }
    let newer = Dictionary(now.map { ($0.id, $0) }, uniquingKeysWith: { look, _ in look })
    for place in modifications {
      guard looks.indices.contains(place), let look = newer[looks[place].id], look != looks[place] else {
        return faults.add("\(place) is not modified: \(change)")
      }
      looks[place] = look
    }
    for place in deletions.reversed() where looks.indices.contains(place) { looks.remove(at: place) }
    for place in insertions where place <= looks.count && now.indices.contains(place) {
      looks.insert(now[place], at: place)
    }
    if looks != now || count != now.count { faults.add("\(looks): \(change)") }
  }
}

private func young(_ realm: Realm) -> Results<Person> {
  realm.objects(Person.self).where { $0.age < 80 }.sorted(byKeyPath: "age")
}

/// Changes, adds or deletes one to three people.
private func stir(_ realm: Realm, _ random: inout SeededGenerator) {
  let people = realm.objects(Person.self)
  for _ in 0...random.below(3) {
    let (place, age) = (random.below(people.count), random.below(100))
    switch random.below(8) {
    case 0 where people.count < 60:
      realm.add(Person(id: 1_000 + random.below(1 << 40), name: "", age: age))
    case 1 where people.count > 20: realm.delete(people[place])
    default: people[place].age = age
    }
  }
}

/// Observers that begin other observers, and end each other, whenever one of them is called.
private final class Crowd: @unchecked Sendable {
  // Sendable: used on the queue of its realm, near; what is heard has a lock.
  enum Act: CaseIterable { case began, ended, endedElsewhere, dropped }

  private final class Member: @unchecked Sendable {
    // Sendable: the token is used near, and the mark on the queue that the observer is called on.
    var token: NotificationToken?
    var isOver = false
  }

  let calls = Heard<Void>()
  let acts = Heard<Act>()
  let faults = Heard<String>()
  private let near: DispatchQueue
  private let far = DispatchQueue(label: "far")
  private let enders = [DispatchQueue(label: "ender"), DispatchQueue(label: "another ender")]
  private var random: SeededGenerator
  private var members: [(member: Member, isFar: Bool)] = []
  private var isOver = false

  init(_ near: DispatchQueue, _ seed: UInt64) { (self.near, random) = (near, SeededGenerator(seed: seed)) }

  func act(_ realm: Realm) {
    if isOver { return }
    let act = Act.allCases[random.below(4)]
    if members.count < 6 || act == .began { begin(realm) } else { end(act) }
  }

  private func begin(_ realm: Realm) {
    let (member, kind) = (Member(), random.below(4))
    switch kind {
    case 0: member.token = realm.objects(Person.self).observe { _ in self.called(member, realm) }
    case 1: member.token = young(realm).observe { _ in self.called(member, realm) }
    case 2: member.token = realm.observe { _, realm in self.called(member, realm) }
    default: member.token = realm.objects(Person.self).observe(on: far) { _ in self.called(member, nil) }
    }
    members.append((member, kind == 3))
    acts.add(.began)
  }

  private func called(_ member: Member, _ realm: Realm?) {
    if member.isOver { faults.add("called after its end") }
    calls.add(())
    if let realm { act(realm) }
  }

  private func end(_ act: Act) {
    let (member, isFar) = members.remove(at: random.below(members.count))
    let queue = isFar ? far : near
    acts.add(act)
    switch act {
    case .endedElsewhere:
      let token = member.token
      enders[random.below(2)].async {
        token?.invalidate()
        // A call that has begun continues. It is over when this block runs.
        queue.async { member.isOver = true }
      }
    case .ended:
      member.token?.invalidate()
      if isFar { far.async { member.isOver = true } } else { member.isOver = true }
    case .began, .dropped:
      // The observer ends with the last reference to its token.
      member.token = nil
      queue.async { member.isOver = true }
    }
  }

  func endAll() {
    isOver = true
    while !members.isEmpty { end(Act.allCases[1 + random.below(3)]) }
  }

  /// Returns when the ended observers are known to have ended, and their calls are over.
  func settle() { for queue in enders + [far, near] { queue.sync {} } }
}

@Suite(.serialized) struct ObserverStressTests {
  private func memory() throws -> QueueRealm {
    let realm = try QueueRealm(
      Realm.Configuration(inMemoryIdentifier: "stress \(UUID())", objectTypes: [Person.self, Dog.self]))
    try realm.write { realm in for id in 0..<40 { realm.add(Person(id: id, name: "", age: id * 2)) } }
    return realm
  }

  /// The people that queries find now, in a realm without observers.
  private func fresh(_ configuration: Realm.Configuration) throws -> (all: [Look], young: [Look]) {
    try onThread { () -> (all: [Look], young: [Look]) in
      let realm = try Realm(configuration: configuration)
      return (Look.all(realm.objects(Person.self)), Look.all(young(realm)))
    }
  }

  /// The people of an observer, once they are the last ones or after 120 seconds.
  private func told(_ one: Patched, on queue: DispatchQueue, _ last: [Look]) -> [Look] {
    let limit = Date(timeIntervalSinceNow: 120)
    while queue.sync(execute: { one.looks }) != last, Date() < limit { Thread.sleep(forTimeInterval: 0.01) }
    return queue.sync { one.looks }
  }

  /// Commits at random as long as a condition of the number of commits holds. Only the last version has a person with
  /// the id 999.
  ///
  /// - Returns: The number of commits.
  private func write(
    _ configuration: Realm.Configuration, seed: UInt64, while isDue: @escaping @Sendable (Int) -> Bool
  ) throws -> Int {
    try onThread { () -> Int in
      var random = SeededGenerator(seed: seed)
      let realm = try Realm(configuration: configuration)
      var commits = 0
      while isDue(commits) {
        if commits == 50_000 { throw Violation("seed \(seed): observers were waited for in vain") }
        try realm.write { stir(realm, &random) }
        commits += 1
      }
      try realm.write { realm.add(Person(id: 999, name: "", age: 50)) }
      return commits
    }
  }

  /// Changes a letter in every place of a file that has a text.
  private func damage(_ text: String, in file: URL) throws {
    let bytes = try Data(contentsOf: file)
    let handle = try FileHandle(forUpdating: file)
    defer { try? handle.close() }
    var start = bytes.startIndex
    while let place = bytes.range(of: Data(text.utf8), in: start..<bytes.endIndex) {
      try handle.seek(toOffset: UInt64(place.lowerBound))
      try handle.write(contentsOf: Data([bytes[place.lowerBound] ^ 1]))
      start = place.upperBound
    }
    if start == bytes.startIndex { throw Violation("'\(text)' is not in the file") }
  }

  /// Calls `body` with a person with many words, in a file that was closed since. No page of it has been read.
  private func withWords(_ body: (URL, QueueRealm) throws -> Void) throws {
    let file = TemporaryFile(named: "damaged ")
    defer { withExtendedLifetime(file) {} }
    let configuration = Realm.Configuration(fileURL: file.url, objectTypes: [Person.self, Dog.self])
    try QueueRealm(configuration).write { realm in
      let person = Person(id: 1, name: "", age: 0)
      person.words.append(objectsIn: (0..<2_000).map { "word \(10_000 + $0) of many" })
      realm.add(person)
    }
    try body(file.url, QueueRealm(configuration))
  }

  @Test func `damage of an observed list is told by one error, and other observers continue`() throws {
    let seeds = Slow.seeds(20, slow: 400)
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      // The damaged word is far from the end, where words are added.
      let word = "word \(10_100 + random.below(1_000)) of"
      try withWords { file, realm in
        let (words, people) = (Heard<Changed>(), Heard<Changed>())
        let errors = Heard<Realm.Error.Code?>()
        let tokens = realm.run { realm in
          [
            realm.objects(Person.self)[0].words.observe { change in
              if case .error(let error) = change { errors.add((error as? Realm.Error)?.code) }
              words.add(Changed(change))
            },
            realm.objects(Person.self).observe { people.add(Changed($0)) },
          ]
        }
        #expect(words.wait(1) == [.initial(2_000)] && people.wait(1) == [.initial(1)], "seed \(seed)")
        try damage(word, in: file)
        for round in 1...3 {
          try realm.write { $0.objects(Person.self)[0].words.append("one more") }
          #expect(people.wait(1 + round).last == .update(1, [], [], [0]), "seed \(seed), round \(round)")
        }
        realm.settle()
        #expect(words.all.map(\.isError) == [false, true], "seed \(seed): \(words.all)")
        #expect(errors.all == [.invalidDatabase], "seed \(seed)")
        withExtendedLifetime(tokens) {}
      }
    }
    print("Damage of a list that is watched: seeds \(seeds), an error each.")
  }

  @Test
  func `damage of a commit that was not read yet is told by one error to the observers that it concerns`()
    throws
  {
    let file = TemporaryFile(named: "damaged ")
    defer { withExtendedLifetime(file) {} }
    let realm = try QueueRealm(Realm.Configuration(fileURL: file.url, objectTypes: [Dog.self, Person.self]))
    try realm.write { $0.create(Dog.self, value: ["name": "Rex"]) }
    let other = try Database(path: file.url.path)
    defer { other.close() }
    func rename(_ name: String) throws {
      try other.write { transaction in
        let dogs = try #require(try transaction.table("Dog"))
        try dogs.set(.string(name), "name", ofRow: dogs.reading().key(at: 0))
      }
    }
    let (all, sorted, moved) = (Heard<Changed>(), Heard<Changed>(), Heard<Void>())
    let tokens = realm.run { realm in
      [
        realm.objects(Dog.self).observe { all.add(Changed($0)) },
        realm.objects(Dog.self).sorted(byKeyPath: "name").observe { sorted.add(Changed($0)) },
        realm.observe { _, _ in
          moved.add(())
          guard moved.all.count == 1 else { return }
          // The realm has moved to the version that observers hear of next. No newer version is read before this block
          // returns.
          try! rename("a name that nobody reads")
          try! damage("a name that nobody reads", in: file.url)
        },
      ]
    }
    #expect(all.wait(1) == [.initial(1)] && sorted.wait(1) == [.initial(1)])
    try rename("Ann")
    for heard in [all, sorted] { #expect(heard.wait(3).map(\.isError) == [false, false, true]) }
    #expect(all.all.dropFirst().first == .update(1, [], [], [0]))
    try rename("Bob")
    // The realm moves to the version with Ann, to the damaged version and to the version with Bob.
    #expect(moved.wait(3).count >= 3)
    realm.settle()
    #expect(all.all.count == 3 && sorted.all.count == 3)
    withExtendedLifetime(tokens) {}
  }

  @Test func `observers are called while a writer never pauses, and hear of its last version`() throws {
    let seed = Slow.isAsked ? UInt64.random(in: 0..<1_000_000) : 1
    let realm = try memory()
    let (near, far, own) = (Patched(), Patched(), DispatchQueue(label: "far"))
    let tokens = realm.run { realm in
      [young(realm).observe { near.told($0) }, realm.objects(Person.self).observe(on: own) { far.told($0) }]
    }
    _ = (near.calls.wait(1), far.calls.wait(1))
    let configuration = realm.configuration
    let commits = try write(configuration, seed: seed) { commits in
      commits < 2_000 || near.calls.all.count < 10 || far.calls.all.count < 10
    }
    let last = try fresh(configuration)
    #expect(told(near, on: realm.queue, last.young) == last.young, "seed \(seed)")
    #expect(told(far, on: own, last.all) == last.all, "seed \(seed)")
    #expect(near.faults.all + far.faults.all == [], "seed \(seed)")
    print("A writer that never pauses: seed \(seed), \(commits) commits, \(near.calls.all.count) calls.")
    withExtendedLifetime(tokens) {}
  }

  @Test func `a queue that is blocked for a second keeps no versions, and is told all changes at once`()
    throws
  {
    let seed = Slow.isAsked ? UInt64.random(in: 0..<1_000_000) : 2
    let realm = try memory()
    let witness = try QueueRealm(realm.configuration)
    let (all, few, seen) = (Patched(), Patched(), Patched())
    let own = witness.run { realm in realm.objects(Person.self).observe { seen.told($0) } }
    let tokens = realm.run { realm in
      [own, realm.objects(Person.self).observe { all.told($0) }, young(realm).observe { few.told($0) }]
    }
    _ = (all.calls.wait(1), few.calls.wait(1), seen.calls.wait(1))
    let (stopped, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    realm.queue.async {
      stopped.signal()
      gate.wait()
    }
    // The gate opens even if an error is thrown, because the realm waits for its queue.
    defer { gate.signal() }
    stopped.wait()
    let start = Date()
    var configuration = realm.configuration
    // The limit covers the versions that both realms show, the two between which the hub moves, and the newest one.
    // With more versions a commit would be refused.
    configuration.maximumNumberOfActiveVersions = 10
    _ = try write(configuration, seed: seed) { $0 < 500 }
    let last = try fresh(configuration)
    // Then the hub has reached the last version.
    #expect(told(seen, on: witness.queue, last.all) == last.all, "seed \(seed)")
    Thread.sleep(until: start.addingTimeInterval(1))
    #expect(all.calls.all.count == 1 && few.calls.all.count == 1)
    gate.signal()
    _ = (all.calls.wait(2), few.calls.wait(2))
    realm.settle()
    #expect(all.calls.all.count == 2 && few.calls.all.count == 2, "seed \(seed)")
    #expect(told(all, on: realm.queue, last.all) == last.all, "seed \(seed)")
    #expect(told(few, on: realm.queue, last.young) == last.young, "seed \(seed)")
    #expect(all.faults.all + few.faults.all + seen.faults.all == [], "seed \(seed)")
    print("A queue that stands still: seed \(seed), \(seen.calls.all.count) calls on another meanwhile.")
    withExtendedLifetime(tokens) {}
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `observers begin and end while commits run, and none is called after its end`(number: UInt64) throws {
    let seed = Slow.isAsked ? UInt64.random(in: 0..<1_000_000) : number
    let realm = try memory()
    let (crowd, kept, configuration) = (Crowd(realm.queue, seed), Patched(), realm.configuration)
    let token = realm.run { realm in
      realm.objects(Person.self).observe { change in
        kept.told(change)
        crowd.act(realm)
      }
    }
    let commits = try write(configuration, seed: seed) { _ in crowd.acts.all.count < 300 }
    realm.run { _ in crowd.endAll() }
    crowd.settle()
    realm.settle()
    let calls = crowd.calls.all.count
    try realm.write { $0.add(Person(id: 998, name: "", age: 50)) }
    let last = try fresh(configuration).all
    #expect(told(kept, on: realm.queue, last) == last, "seed \(seed)")
    crowd.settle()
    #expect(crowd.calls.all.count == calls, "seed \(seed)")
    #expect(crowd.faults.all + kept.faults.all == [], "seed \(seed)")
    #expect(Set(crowd.acts.all) == Set(Crowd.Act.allCases), "seed \(seed)")
    print("Observers that come and go: seed \(seed), \(commits) commits, \(calls) calls.")
    withExtendedLifetime(token) {}
  }

  @Test func `an observer that begins in the block of an ended observer knows the present state`() throws {
    let realm = try memory()
    let configuration = realm.configuration
    let (later, tokens) = (Patched(), Heard<NotificationToken>())
    realm.run { realm in
      let first = young(realm).observe { _ in
        tokens.all[0].invalidate()
        _ = try! write(configuration, seed: 3) { $0 < 1 }
        realm.refresh()
        tokens.add(young(realm).observe { later.told($0) })
        // The deletion is refused when the hub has reached the new observer, which is while this block still runs.
        _ = try? Realm.deleteFiles(for: configuration)
      }
      tokens.add(first)
    }
    _ = later.calls.wait(1)
    #expect(try fresh(configuration).young == realm.run { _ in later.looks })
    try realm.write { $0.delete($0.objects(Person.self).where { $0.id == 999 }) }
    let left = try fresh(configuration).young
    #expect(told(later, on: realm.queue, left) == left)
    #expect(later.faults.all == [])
    for token in tokens.all { token.invalidate() }
  }
}
