import RealmSwift

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

  func run(_ figures: Figures) throws {
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
      // This observer is called after all others.
      tokens += place.onQueue { realm in
        [realm.objects(Point.self).observe(keyPaths: keyPaths) { if case .update = $0 { last.add() } }]
      }
      place.settle()
      let times = try place.times(200, last) { realm, round in
        realm.object(ofType: Point.self, forPrimaryKey: (round * 7_919) % count)!.value += 1
      }
      figures.add(
        "L5 50 observers of \(count) objects\(keyPaths == nil ? "" : ", key paths")", times,
        aim: keyPaths == nil && count == 100_000 ? 10 : nil)
      withExtendedLifetime(tokens) {}
    }
  }
}
