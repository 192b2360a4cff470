import Foundation
import RealmSwift

/// One million objects that are observed by queries.
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

  func run(_ wanted: Set<String>, _ figures: Figures) throws {
    if wanted.contains("L1") { try one("L1 all of 1 M objects", figures, aim: 0.5, other: 86) { $0 } }
    if wanted.contains("L2") {
      try one("L2 a filter that half of them meet", figures, aim: 0.5, other: 29) {
        $0.where { $0.value >= 500_000 }
      }
    }
    if wanted.contains("L3") {
      try one("L3 that filter, sorted by two properties", figures, aim: 1, other: 241) {
        $0.where { $0.value >= 500_000 }.sorted(by: [
          SortDescriptor(keyPath: "group"), SortDescriptor(keyPath: "name"),
        ])
      }
    }
    if wanted.contains("L4") {
      try one("L4 an indexed equality", figures, aim: 0.25, other: 0.11) { $0.where { $0.group == 7 } }
    }
    if wanted.contains("L6") { try many(figures) }
    if wanted.contains("L8") { try memory() }
  }

  private func one(
    _ name: String, _ figures: Figures, aim: Double, other: Double,
    _ query: @escaping (Results<Item>) -> Results<Item>
  ) throws {
    let called = Called()
    let token = place.onQueue { realm in
      query(realm.objects(Item.self)).observe { if case .update = $0 { called.add() } }
    }
    place.settle()
    let times = try place.times(200, called) { realm, round in
      // The change affects an object that each query finds, and moves it in the sort order.
      let item = realm.object(ofType: Item.self, forPrimaryKey: 7 + 1_000 * (round % 900))!
      (item.value, item.name) = (500_000 + round, "changed \(round) for \(name)")
    }
    figures.add(name, times, aim: aim, other: other)
    withExtendedLifetime(token) {}
  }

  private func many(_ figures: Figures) throws {
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
    figures.add("L6 100,000 objects changed in one commit", told)
    figures.add("     the query anew", run)
    withExtendedLifetime(token) {}
  }

  private func memory() throws {
    let before = ownMiB()
    let called = Called()
    let kept = place.onQueue { realm -> (NotificationToken, [Results<Item>]) in
      let handles = (0..<2).map { _ in realm.objects(Item.self).sorted(byKeyPath: "value") }
      return (handles[0].observe { _ in called.add() }, handles)
    }
    called.wait(1)
    place.onQueue { _ in for handle in kept.1 { _ = handle[500_000].id } }
    print("L8 1 M sorted, observed, two handles: \(Int(ownMiB() - before)) MiB")
    withExtendedLifetime(kept) {}
  }
}
