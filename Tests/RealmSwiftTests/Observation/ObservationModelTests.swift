import Dispatch
import Foundation
import RealmStorage
import RealmSwift
import Synchronization
import RealmTestSupport
import Testing

class Village: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var people: Int
  @Persisted var name: String
  @Persisted var next: Village?
  @Persisted var near: List<Village>
  @Persisted var tags: List<String>
  @Persisted var scores: MutableSet<Int>
  @Persisted var roads: Map<String, Village?>
  @Persisted var counts: Map<String, Int>
  @Persisted(originProperty: "next") var before: LinkingObjects<Village>

  /// The values of the town whose changes its observer sees, with the values of towns at most `depth` links away.
  func look(_ depth: Int) -> String {
    func deep(_ town: Village?) -> String {
      town.map { depth > 0 ? $0.look(depth - 1) : "\($0.id)" } ?? "-"
    }
    let links = [deep(next)] + near.map { deep($0) } + roads.keys.map { "\($0):\(deep(roads[$0] ?? nil))" }
    return
      "\(id) \(people) \(name) \(Array(tags)) \(Array(scores)) \(counts.keys.map { "\($0)\(counts[$0]!)" }) \(links)"
  }
}

/// An observed collection, with the content that it has according to its observer's calls.
private final class Watched: @unchecked Sendable {
  // Sendable: used on the queue of its realm.
  let name: String
  private let fresh: (Realm) -> [(id: String, look: String)]
  private var known: [(id: String, look: String)] = []
  private(set) var calls = 0
  var faults: [String] = []
  var token: NotificationToken?
  private let mayDuplicate: Bool

  init(_ name: String, mayDuplicate: Bool = false, _ fresh: @escaping (Realm) -> [(id: String, look: String)])
  {
    (self.name, self.mayDuplicate, self.fresh) = (name, mayDuplicate, fresh)
  }

  var count: Int { known.count }

  func isCurrent(_ realm: Realm) -> Bool {
    let now = fresh(realm.freeze())
    return now.count == known.count && zip(now, known).allSatisfy { $0.id == $1.id && $0.look == $1.look }
  }

  func told(_ realm: Realm, _ change: (deletions: [Int], insertions: [Int], modifications: [Int])?) {
    calls += 1
    // A frozen realm gives the content, because it does not depend on the calls of observers.
    let now = fresh(realm.freeze())
    defer { known = now }
    guard let change else { return }
    let gone = Set(change.deletions)
    var patched = known.indices.filter { !gone.contains($0) }.map { known[$0].id }
    for place in change.insertions {
      guard place <= patched.count, place < now.count else {
        return faults.append("\(name): inserted at \(place) of \(patched.count)")
      }
      patched.insert(now[place].id, at: place)
    }
    if change.deletions != change.deletions.sorted() || change.insertions != change.insertions.sorted()
      || change.modifications != change.modifications.sorted()
    {
      faults.append("\(name): not in order \(change)")
    }
    if patched != now.map(\.id) {
      return faults.append("\(name): \(known.map(\.id)) with \(change) is not \(now.map(\.id))")
    }
    let fewest = ListChanges(from: known.map(\.id), to: now.map(\.id))
    if change.deletions.count > fewest.deletions.count {
      faults.append("\(name): \(change) where \(fewest) would do, of \(known.map(\.id)) to \(now.map(\.id))")
    }
    if change.deletions.isEmpty && change.insertions.isEmpty && change.modifications.isEmpty {
      faults.append("\(name): told of nothing")
    }
    if mayDuplicate { return }
    let looks = Dictionary(uniqueKeysWithValues: now.map { ($0.id, $0.look) })
    let added = Set(change.insertions.map { now[$0].id })
    let modified = known.indices.filter { place in
      !gone.contains(place) && !added.contains(known[place].id) && looks[known[place].id] != known[place].look
    }
    if modified != change.modifications {
      let first = modified.first { !change.modifications.contains($0) } ?? change.modifications[0]
      faults.append(
        "\(name): modified \(change.modifications), and should be \(modified); the first was \(known[first]) and is "
          + "\(looks[known[first].id] ?? "gone")")
    }
  }

  /// Compares the change of a keyed collection, whose keys are in order.
  func told<C: RealmKeyedCollection>(_ realm: Realm, _ change: RealmMapChange<C>) {
    switch change {
    case .initial: told(realm, nil)
    case .error(let error): faults.append("\(name): \(error)")
    case .update(_, let deletions, let insertions, let modifications):
      let now = fresh(realm.freeze())
      func places(_ keys: [C.Key], _ entries: [(id: String, look: String)]) -> [Int] {
        keys.map { key in entries.firstIndex { $0.id == key._mapKey } ?? -1 }
      }
      told(realm, (places(deletions, known), places(insertions, now), places(modifications, known)))
    }
  }

  var entries: [(String, String)] { known.map { ($0.id, $0.look) } }
  func begin(_ realm: Realm) { known = fresh(realm.freeze()) }
  func count(call: Int) { calls += call }

  func told<C: RealmCollection>(_ realm: Realm, _ change: RealmCollectionChange<C>) {
    switch change {
    case .initial: told(realm, nil)
    case .update(_, let deletions, let insertions, let modifications):
      told(realm, (deletions, insertions, modifications))
    case .error(let error): faults.append("\(name): \(error)")
    }
  }
}

@Suite struct ObservationModelTests {
  private static func towns(_ depth: Int = 4, _ query: @escaping (Realm) -> Results<Village>) -> (Realm) -> [(
    id: String, look: String
  )] {
    { realm in query(realm).map { ("\($0.id)", $0.look(depth)) } }
  }

  /// Observers of every kind of collection.
  private static func watch(_ realm: Realm) -> [Watched] {
    var all: [Watched] = []
    func add(_ name: String, _ query: @escaping (Realm) -> Results<Village>) {
      let watched = Watched(name, towns(4, query))
      let handle = query(realm)
      watched.token = handle.observe {
        watched.told(realm, $0)
        let live = (Array(handle.map(\.id)), query(realm).count, query(realm).first?.id, handle.isEmpty)
        let frozen = query(realm.freeze()).map(\.id)
        if live != (Array(frozen), frozen.count, frozen.first, frozen.isEmpty) {
          watched.faults.append("\(name): shows \(live), not \(Array(frozen))")
        }
      }
      all.append(watched)
    }
    add("all") { $0.objects(Village.self) }
    add("large") { $0.objects(Village.self).where { $0.people >= 50 } }
    add("equal") { $0.objects(Village.self).where { $0.people == 7 } }
    add("sorted") { $0.objects(Village.self).sorted(byKeyPath: "people") }
    add("sorted by two") {
      $0.objects(Village.self).where { $0.people < 80 }.sorted(by: [
        SortDescriptor(keyPath: "name", ascending: false), SortDescriptor(keyPath: "people"),
      ])
    }
    add("sorted by a link") { $0.objects(Village.self).sorted(byKeyPath: "next.people") }
    add("behind a link") { $0.objects(Village.self).where { $0.next.people > 40 } }
    add("behind two links") {
      $0.objects(Village.self).filter("next.next.name == 'a' OR ANY near.people > 90")
    }
    add("who is linked to") { $0.objects(Village.self).filter("before.@count > 1") }
    add("with tags") { $0.objects(Village.self).filter("tags.@count > 2 OR ANY scores > 5") }
    add("distinct") { $0.objects(Village.self).sorted(byKeyPath: "people").distinct(by: ["name"]) }
    add("a few") { try! $0.objects(Village.self).query("people > 10 SORT(people DESC) LIMIT(5)") }
    func first(_ realm: Realm) -> Village? { realm.object(ofType: Village.self, forPrimaryKey: 0) }
    let town = first(realm)!
    let near = Watched("near", mayDuplicate: true) { realm in
      (first(realm)?.near).map { $0.map { ("\($0.id)", $0.look(4)) } } ?? []
    }
    near.token = town.near.observe { near.told(realm, $0) }
    let few = Watched("near and small", mayDuplicate: true) { realm in
      (first(realm)?.near.where { $0.people < 50 }.sorted(byKeyPath: "people")).map {
        $0.map { ("\($0.id)", "") }
      } ?? []
    }
    few.token = town.near.where { $0.people < 50 }.sorted(byKeyPath: "people").observe { few.told(realm, $0) }
    let before = Watched(
      "before",
      towns { first($0)?.before.sorted(byKeyPath: "id") ?? $0.objects(Village.self).where { $0.id < 0 } })
    before.token = town.before.sorted(byKeyPath: "id").observe { before.told(realm, $0) }
    let tags = Watched("tags", mayDuplicate: true) { realm in
      (first(realm)?.tags).map { $0.map { ($0, "") } } ?? []
    }
    tags.token = town.tags.observe { change in
      // The notification reports a value in the place of another as a modification. The model reports a deletion and an
      // insertion.
      guard case .update(_, let deletions, let insertions, let modifications) = change else {
        return tags.told(realm, change)
      }
      let gone = Set(deletions)
      var places: [Int: Int] = [:]
      var next = 0
      for place in 0..<tags.count where !gone.contains(place) {
        while insertions.contains(next) { next += 1 }
        places[place] = next
        next += 1
      }
      let new = modifications.compactMap { places[$0] }
      tags.told(realm, ((deletions + modifications).sorted(), (insertions + new).sorted(), []))
    }
    let scores = Watched("scores") { realm in (first(realm)?.scores).map { $0.map { ("\($0)", "") } } ?? [] }
    scores.token = town.scores.observe { scores.told(realm, $0) }
    return all + [near, few, before, tags, scores, roads(town), counts(town), object(town)]
  }

  /// A map of links. A key is modified if it leads to another object, or if its object has changed.
  private static func roads(_ town: Village) -> Watched {
    let watched = Watched("roads") { realm in
      guard let roads = realm.object(ofType: Village.self, forPrimaryKey: 0)?.roads else { return [] }
      return roads.keys.map { ($0, (roads[$0] ?? nil)?.look(4) ?? "-") }
    }
    watched.token = town.roads.observe { watched.told(town.realm!, $0) }
    return watched
  }

  private static func counts(_ town: Village) -> Watched {
    let watched = Watched("counts") { realm in
      guard let counts = realm.object(ofType: Village.self, forPrimaryKey: 0)?.counts else { return [] }
      return counts.keys.map { ($0, "\(counts[$0] ?? 0)") }
    }
    watched.token = town.counts.observe { watched.told(town.realm!, $0) }
    return watched
  }

  /// An object. The properties in its change must be those whose values differ, with the values before and after.
  private static func object(_ town: Village) -> Watched {
    func values(_ town: Village) -> [(id: String, look: String)] {
      [
        ("people", "\(town.people)"), ("name", town.name), ("next", town.next.map { "\($0.id)" } ?? "nil"),
        ("near", "\(Array(town.near.map(\.id)))"), ("tags", "\(Array(town.tags))"),
        ("scores", "\(Array(town.scores))"),
        ("roads", "\(town.roads.keys.map { "\($0) \((town.roads[$0] ?? nil)?.id ?? -1)" })"),
        ("counts", "\(town.counts.keys.map { "\($0) \(town.counts[$0] ?? 0)" })"),
      ]
    }
    let watched = Watched("object") { realm in
      realm.object(ofType: Village.self, forPrimaryKey: 0).map(values) ?? []
    }
    watched.begin(town.realm!)
    watched.token = town.observe { change in
      guard case .change(let town, let changes) = change else {
        return watched.faults.append("object: \(change)")
      }
      let before = Dictionary(uniqueKeysWithValues: watched.entries)
      let now = Dictionary(uniqueKeysWithValues: values(town))
      let told = Dictionary(uniqueKeysWithValues: changes.map { ($0.name, $0) })
      // If another row has the key now, the values look the same, but the row is another one.
      let differing = Set(now.keys.filter { now[$0] != before[$0] })
      if !differing.isSubset(of: told.keys) {
        watched.faults.append("object: \(differing) differ, and \(told.keys) are told")
      }
      for name in ["people", "name"] where told[name] != nil {
        let texts = [told[name]?.oldValue, told[name]?.newValue].map { "\($0.flatMap { $0 } ?? "nil")" }
        if texts != [before[name], now[name]] || texts[0] == texts[1] {
          watched.faults.append("object: \(name) \(texts), not \(before[name] ?? "") \(now[name] ?? "")")
        }
      }
      watched.begin(town.realm!)
      watched.count(call: 1)
    }
    return watched
  }

  private static func change(_ realm: Realm, _ most: Int, _ random: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let towns = realm.objects(Village.self)
      // Some towns are changed and linked more often than others.
      func place() -> Int {
        Int.random(in: 0..<(Bool.random(using: &random) ? min(9, towns.count) : towns.count), using: &random)
      }
      let town = towns[place()]
      let other = towns[place()]
      switch Int.random(in: 0..<14, using: &random) {
      case 0, 1: town.people = Int.random(in: 0..<100, using: &random)
      case 2: town.name = ["a", "b", "c", "d"].randomElement(using: &random)!
      case 3: town.next = Bool.random(using: &random) ? other : nil
      case 4: town.near.append(other)
      case 5:
        if !town.near.isEmpty { town.near.remove(at: Int.random(in: 0..<town.near.count, using: &random)) }
      case 6:
        town.tags.insert(
          "\(Int.random(in: 0..<4, using: &random))", at: Int.random(in: 0...town.tags.count, using: &random))
      case 7: if !town.tags.isEmpty { town.tags[Int.random(in: 0..<town.tags.count, using: &random)] = "x" }
      case 8: if !town.tags.isEmpty { town.tags.removeFirst() }
      case 9:
        let score = Int.random(in: 0..<9, using: &random)
        if town.scores.contains(score) { town.scores.remove(score) } else { town.scores.insert(score) }
      case 13: town.counts["\(Int.random(in: 0..<4, using: &random))"] = Bool.random(using: &random) ? 1 : nil
      case 10: town.roads["\(Int.random(in: 0..<3, using: &random))"] = other
      case 11:
        if towns.count < 2 * most {
          realm.create(
            Village.self,
            value: ["id": Int.random(in: 10_000..<1 << 40, using: &random), "people": 7, "next": other]
              as [String: Any])
        }
      default: if town.id != 0, towns.count > most / 4 { realm.delete(town) }
      }
    }
  }

  /// Makes random changes as another process does.
  private static func change(_ process: Database, _ random: inout SeededGenerator) throws {
    try process.write { transaction in
      let towns = try #require(try transaction.table("Village"))
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let now = try towns.reading()
        let row = try now.key(at: Int.random(in: 0..<now.count, using: &random))
        let other = try now.key(at: Int.random(in: 0..<now.count, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try towns.set(.int(Int64.random(in: 0..<100, using: &random)), "people", ofRow: row)
        case 1: try towns.set(.string("e"), "name", ofRow: row)
        case 2: try towns.set(.link(other), "next", ofRow: row)
        default:
          _ = try towns.insert([
            "id": .int(Int64.random(in: 1 << 41..<1 << 42, using: &random)), "next": .link(other),
          ])
        }
      }
    }
  }

  /// With few objects, a change concerns so many of them that plans run again. With many objects, the results are kept
  /// up to date.
  @Test(arguments: 1...4, [20, 600])
  func `after each call the patched collection has the objects that a query finds`(
    number: Int, objects: Int
  ) throws {
    let seed = Slow.isAsked ? UInt64.random(in: 0..<1_000_000) : UInt64(number)
    var random = SeededGenerator(seed: seed)
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).realm")
    let realm = try QueueRealm(Realm.Configuration(fileURL: url, objectTypes: [Village.self]))
    let configuration = realm.configuration
    defer { _ = try? Realm.deleteFiles(for: configuration) }
    // To the file, a handle of its own is like another process.
    let process = try Database(path: url.path)
    defer { process.close() }
    try realm.write { realm in
      for id in 0..<objects {
        realm.create(Village.self, value: ["id": id, "people": id * 5 % 100, "name": "a"])
      }
    }
    let watched = realm.run { Self.watch($0) }
    realm.settle()
    let rounds = Slow.count(40, slow: 2_000)
    for round in 0..<rounds {
      let commits = Int.random(in: 1...3, using: &random)
      let other = SeededGenerator(seed: random.next())
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        var other = other
        for _ in 0..<commits { try Self.change(process, &other) }
      case 1:
        var other = other
        for _ in 0..<commits { try realm.write { Self.change($0, objects, &other) } }
      case 2:
        try onThread {
          var other = other
          let realm = try Realm(configuration: configuration)
          for _ in 0..<commits { try realm.write { Self.change(realm, objects, &other) } }
        }
      default:
        // The commits come while no observer can be called, and the observers get them all at once.
        try realm.queue.sync {
          try onThread {
            var other = other
            let realm = try Realm(configuration: configuration)
            for _ in 0..<commits { try realm.write { Self.change(realm, objects, &other) } }
          }
        }
      }
      if round % 7 == 0 { realm.settle() }
      let faults = realm.run { _ in watched.flatMap(\.faults) }
      try #require(faults == [], "seed \(seed), round \(round)")
    }
    // The last call must lead to the present state.
    let limit = Date(timeIntervalSinceNow: 120)
    func late() -> [String] { realm.run { realm in watched.filter { !$0.isCurrent(realm) }.map(\.name) } }
    while !late().isEmpty, Date() < limit { Thread.sleep(forTimeInterval: 0.01) }
    #expect(late() == [], "seed \(seed)")
    let calls = realm.run { _ in watched.map(\.calls).reduce(0, +) }
    print(
      "Model of observers: seed \(seed), \(objects) objects, 2 processes, \(rounds) rounds, \(calls) calls, wrong=0 lost=\(late().count) hung=0."
    )
    realm.run { _ in for one in watched { one.token = nil } }
  }
}
