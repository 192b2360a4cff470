import Foundation
import RealmSwift
import RealmTestSupport
import Testing

private class Point: EmbeddedObject {
  @Persisted var x = 1.5
  @Persisted var y = 2.5
  @Persisted var label: String?
}
private struct Coordinate: CustomPersistable, Equatable {
  var x, y: Double
  init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
  init(persistedValue: Point) { (x, y) = (persistedValue.x, persistedValue.y) }
  var persistableValue: Point { Point(value: [x, y]) }
}
/// A type that accepts no point left of the origin.
private struct Eastern: FailableCustomPersistable, Equatable {
  var x: Double
  init?(_ x: Double) { self.init(persistedValue: Point(value: [x, 0])) }
  init?(persistedValue: Point) {
    guard persistedValue.x >= 0 else { return nil }
    x = persistedValue.x
  }
  var persistableValue: Point { Point(value: [x, 0]) }
}
private class Town: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var at: Coordinate
  @Persisted var start = Coordinate(7, 8)
  @Persisted var maybe: Coordinate?
  @Persisted var road: List<Coordinate>
  @Persisted var marks: Map<String, Coordinate>
  @Persisted var gaps: Map<String, Coordinate?>
  @Persisted var east: Eastern?
  @Persisted var gate: Eastern
}
/// A class with the same rows and the types that are stored.
private class PlainTown: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var at: Point?
  @Persisted var start: Point?
  @Persisted var maybe: Point?
  @Persisted var road: List<Point>
  @Persisted var marks: Map<String, Point?>
  @Persisted var gaps: Map<String, Point?>
  @Persisted var east: Point?
  @Persisted var gate: Point?
  override class func _realmObjectName() -> String? { "Town" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct CustomEmbeddedTests {
  private let origin = Coordinate(1.5, 2.5)

  @Test func `values of the program's own types are stored as embedded objects`() throws {
    let file = TemporaryFile()
    var configuration = file.configuration
    configuration.objectTypes = [Town.self, Point.self]
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      let town = Town(value: ["name": "a"])
      #expect(town.at == origin && town.start == Coordinate(7, 8) && town.maybe == nil)
      town.road.append(objectsIn: [Coordinate(1, 1), Coordinate(2, 2)])
      town.marks["m"] = Coordinate(3, 3)
      town.east = Eastern(4)
      try realm.write { realm.add(town) }
      #expect(town.at == origin && town.start == Coordinate(7, 8) && town.maybe == nil)
      #expect(
        Array(town.road) == [Coordinate(1, 1), Coordinate(2, 2)] && town.marks["m"] == Coordinate(3, 3))
      #expect(town.east == Eastern(4) && town.gate.x == 1.5)
      try realm.write {
        town.at = Coordinate(5, 6)
        town.maybe = Coordinate(9, 9)
        town.road[0] = Coordinate(0, 1)
        town.road.append(Coordinate(3, 3))
        town.road.remove(at: 1)
        town.marks["n"] = Coordinate(4, 4)
        town.gaps["g"] = Coordinate(1, 2)
        town.gaps.updateValue(nil, forKey: "h")
      }
      #expect(town.at == Coordinate(5, 6) && town.maybe == Coordinate(9, 9))
      #expect(Array(town.road) == [Coordinate(0, 1), Coordinate(3, 3)])
      #expect(town.road.contains(Coordinate(3, 3)) && town.road.index(of: Coordinate(3, 3)) == 1)
      #expect(
        town.gaps["g"] == Coordinate(1, 2) && town.gaps["h"] == Coordinate?.none && town.gaps.count == 2)
      try realm.write {
        town.maybe = nil
        town["at"] = ["x": 8, "y": 9]
        town["road"] = [Coordinate(1, 0), ["x": 2], Point(value: [3, 3])] as [Any]
        realm.create(
          Town.self,
          value: [
            "name": "b", "at": [1, 2], "road": [["x": 5, "y": 5]], "marks": ["k": Point(value: [6, 6])],
          ]
            as [String: Any])
        realm.create(Town.self, value: ["name": "c", "maybe": Coordinate(1, 1)] as [String: Any])
        // Only the given properties change.
        realm.create(
          Town.self, value: ["name": "a", "maybe": ["x": 4, "y": 4]] as [String: Any], update: .modified)
      }
      #expect(town.at == Coordinate(8, 9) && town.maybe == Coordinate(4, 4))
      #expect(Array(town.road) == [Coordinate(1, 0), Coordinate(2, 2.5), Coordinate(3, 3)])
      let towns = realm.objects(Town.self)
      let other = try #require(realm.object(ofType: Town.self, forPrimaryKey: "b"))
      #expect(other.at == Coordinate(1, 2) && Array(other.road) == [Coordinate(5, 5)])
      #expect(other.marks["k"] == Coordinate(6, 6) && other.description.contains("at = "))
      #expect(towns.where { $0.maybe != nil }.count == 2 && towns.where { $0.maybe == nil }.count == 1)
      #expect(Set([Coordinate(1, 2), other.at, Coordinate(2, 1)]).count == 2)
      // The test copies the object as an unmanaged one, and into another realm.
      #expect(Town(value: town).at == town.at && Array(Town(value: town).road) == Array(town.road))
      let second = try memoryRealm([Town.self, Point.self])
      try second.write {
        let copy = second.create(Town.self, value: town)
        #expect(
          copy.at == town.at && Array(copy.road) == Array(town.road) && copy.marks["m"] == town.marks["m"])
      }
      try realm.verify()
    }
    configuration.objectTypes = [PlainTown.self, Point.self]
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      let plain = try #require(realm.object(ofType: PlainTown.self, forPrimaryKey: "a"))
      #expect(plain.at?.x == 8 && plain.road.map(\.x) == [1, 2, 3] && plain.start?.y == 8)
      try realm.write {
        plain.at = nil
        plain.east?.x = -1
        plain.marks.updateValue(nil, forKey: "m")
      }
    }
    configuration.objectTypes = [Town.self, Point.self]
    let realm = try Realm(configuration: configuration)
    let town = try #require(realm.object(ofType: Town.self, forPrimaryKey: "a"))
    #expect(town.at == origin && town.east == nil && town.marks["m"] == origin)
  }

  @Test func `parts are deleted with their owner, and no part is left over`() throws {
    let realm = try memoryRealm([Town.self, Point.self])
    try realm.write {
      for update in [Realm.UpdatePolicy.modified, .all] {
        for round in 0..<3 {
          realm.create(
            Town.self,
            value: ["name": "a", "road": [Coordinate(1, 1), Coordinate(2, 2)], "east": [round]]
              as [String: Any], update: update)
        }
      }
    }
    let town = realm.objects(Town.self)[0]
    #expect(town.east == Eastern(2) && town.road.count == 2 && town.at == origin)
    try realm.verify()
    try realm.write { realm.deleteAll() }
    try realm.verify()
    #expect(realm.isEmpty)
  }
}

extension MisuseTests {
  @Test func `a value that can't be an embedded object of the program's type stops the program by name`() {
    expectStop(["Invalid value", "Town.at", "Coordinate", "5", "Point"]) { _ = Town(value: ["at": 5]) }
    expectStop(["Invalid value", "Town.gate", "Eastern", "Point"]) { _ = Town(value: ["gate": ["x": -1]]) }
    expectStop(["Invalid value", "Town.east", "Eastern"]) {
      _ = Town(value: ["east": Point(value: [-1, 0])])
    }
    expectStop(["Invalid value", "Town.road", "Coordinate"]) { _ = Town(value: ["road": [5]]) }
  }
}
