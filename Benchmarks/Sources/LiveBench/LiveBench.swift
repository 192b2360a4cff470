import Dispatch
import Foundation
import RealmSwift

/// How long it takes from a commit to the call of observers, on realms in memory: the rows L1 to L8 of docs/performance.md.
@main
struct LiveBench {
  static func main() throws {
    let wanted = Set(CommandLine.arguments.dropFirst())
    func isWanted(_ name: String) -> Bool { wanted.isEmpty || wanted.contains(name) }
    if ["L1", "L2", "L3", "L4", "L6", "L8"].contains(where: isWanted) {
      let items = try Items(1_000_000)
      if isWanted("L1") { try items.one("L1 all") { $0 } }
      if isWanted("L2") { try items.one("L2 half, filtered") { $0.where { $0.value >= 500_000 } } }
      if isWanted("L3") {
        try items.one("L3 half, sorted by two") {
          $0.where { $0.value >= 500_000 }.sorted(by: [
            SortDescriptor(keyPath: "group"), SortDescriptor(keyPath: "name"),
          ])
        }
      }
      if isWanted("L4") { try items.one("L4 indexed equality") { $0.where { $0.group == 7 } } }
      if isWanted("L6") { try items.many() }
      if isWanted("L8") { try items.memory() }
    }
    if isWanted("L5") {
      for count in [10_000, 100_000, 1_000_000] { try Graph(count).run() }
    }
    if isWanted("L7") { try unconcerned() }
  }

  /// 1,000 observers of a class of which nothing changes, and one of another.
  static func unconcerned() throws {
    let place = try Place("L7", [Item.self, Other.self])
    try place.write { realm in
      realm.add(Other())
      for id in 0..<1_000 { realm.create(Item.self, value: ["id": id]) }
    }
    let called = Called()
    let tokens = place.onQueue { realm in
      (0..<1_000).map { number in
        realm.objects(Item.self).where { $0.value > number }.observe { if case .update = $0 { called.add() } }
      } + [realm.objects(Other.self).observe { if case .update = $0 { called.add() } }]
    }
    place.settle()
    let times = try place.times(200, called) { realm, _ in realm.objects(Other.self)[0].value += 1 }
    report("L7 1,000 not concerned", times)
    withExtendedLifetime(tokens) {}
  }
}

/// A million objects.
struct Items {
  let place: Place
  let count: Int

  init(_ count: Int) throws {
    self.count = count
    place = try Place("items", [Item.self])
    var random = SystemRandomNumberGenerator()
    try place.write { realm in
      for id in 0..<count {
        let item = Item()
        (item.id, item.value, item.group) = (id, Int.random(in: 0..<1_000_000, using: &random), id % 1_000)
        item.name = "name \(id &* 7_919 % 100_003)"
        realm.add(item)
      }
    }
  }

  func one(_ name: String, _ query: @escaping (Results<Item>) -> Results<Item>) throws {
    let called = Called()
    let token = place.onQueue { realm in
      query(realm.objects(Item.self)).observe { if case .update = $0 { called.add() } }
    }
    place.settle()
    let times = try place.times(200, called) { realm, round in
      // One that every query finds, at another place in the sort.
      let item = realm.object(ofType: Item.self, forPrimaryKey: 7 + 1_000 * (round % 900))!
      (item.value, item.name) = (500_000 + round, "changed \(round)")
    }
    report(name, times)
    withExtendedLifetime(token) {}
  }

  func many() throws {
    let called = Called()
    func query(_ realm: Realm) -> Results<Item> {
      realm.objects(Item.self).where { $0.value >= 500_000 }.sorted(byKeyPath: "value")
    }
    let token = place.onQueue { realm in query(realm).observe { if case .update = $0 { called.add() } } }
    place.settle()
    var (told, run): ([Double], [Double]) = ([], [])
    for _ in 0..<5 {
      told += try place.times(1, called) { realm, _ in
        for item in realm.objects(Item.self).where({ $0.id < 100_000 }) {
          item.value = 1_000_000 - item.value
        }
      }
      let start = now()
      _ = try Realm(configuration: place.configuration).objects(Item.self).where { $0.value >= 500_000 }
        .sorted(byKeyPath: "value").last
      run.append(now() - start)
    }
    report("L6 100,000 changed", told)
    report("   the query anew", run)
    withExtendedLifetime(token) {}
  }

  func memory() throws {
    let before = residentMiB()
    let called = Called()
    let kept = place.onQueue { realm -> (NotificationToken, [Results<Item>]) in
      let handles = (0..<2).map { _ in realm.objects(Item.self).sorted(byKeyPath: "value") }
      return (handles[0].observe { _ in called.add() }, handles)
    }
    called.wait(1)
    place.onQueue { _ in for handle in kept.1 { _ = handle[500_000].id } }
    print("L8 1 M sorted, observed, two handles: \(Int(residentMiB() - before)) MiB")
    withExtendedLifetime(kept) {}
  }
}

/// Objects with ten links each, in cycles, and 50 observers of all kinds.
struct Graph {
  let place: Place
  let count: Int

  init(_ count: Int) throws {
    self.count = count
    place = try Place("graph \(count)", [Point.self])
    var random = SystemRandomNumberGenerator()
    try place.write { realm in
      for id in 0..<count { realm.create(Point.self, value: ["id": id, "value": id]) }
    }
    try place.write { realm in
      let points = Array(realm.objects(Point.self))
      for point in points {
        point.links.append(objectsIn: (0..<10).map { _ in points[Int.random(in: 0..<count, using: &random)] })
      }
    }
  }

  func run() throws {
    for keyPaths in [nil, ["value"]] as [[String]?] {
      let (called, last) = (Called(), Called())
      var tokens = place.onQueue { realm in
        let points = realm.objects(Point.self)
        return (0..<12).flatMap { number -> [NotificationToken] in
          let point = points[number * 37]
          return [
            point.observe(keyPaths: keyPaths) { _ in called.add() },
            point.links.observe(keyPaths: keyPaths) { _ in called.add() },
            points.where { $0.value > number * 10 }.observe(keyPaths: keyPaths) { _ in called.add() },
            points.sorted(byKeyPath: "value", ascending: number % 2 == 0).observe(keyPaths: keyPaths) { _ in
              called.add()
            },
          ]
        } + [points.observe(keyPaths: keyPaths) { _ in called.add() }]
      }
      // It is called behind all others.
      tokens += place.onQueue { realm in
        [realm.objects(Point.self).observe(keyPaths: keyPaths) { if case .update = $0 { last.add() } }]
      }
      place.settle()
      let times = try place.times(200, last) { realm, round in
        realm.object(ofType: Point.self, forPrimaryKey: (round * 7_919) % count)!.value += 1
      }
      report("L5 \(count) linked, 50 observers\(keyPaths == nil ? "" : ", key paths")", times)
      withExtendedLifetime(tokens) {}
    }
  }
}
