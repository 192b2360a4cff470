import Foundation
import RealmSwift
import Testing

// This target is compiled with MainActor as its default isolation: classes of models say `nonisolated`.

// listing: nonisolated
nonisolated class Plant: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var pots: List<Pot>
  @Persisted var tags: MutableSet<String>
}

nonisolated class Pot: EmbeddedObject {
  @Persisted var size = 1
}

nonisolated enum Light: Int, PersistableEnum {
  case shade, sun
}
// end

@Suite struct MainActorTests {
  @Test func `models are used where everything else is on the main actor`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "plants", objectTypes: [Plant.self, Pot.self]))
    try realm.write {
      let plant = realm.create(
        Plant.self, value: ["id": 1, "name": "Fern", "pots": [["size": 3]]] as [String: Any])
      plant.tags.insert("green")
    }
    let plant = try #require(realm.object(ofType: Plant.self, forPrimaryKey: 1))
    #expect(plant.pots[0].size == 3 && plant.tags.contains("green") && Light.sun.rawValue == 1)
    #expect(realm.objects(Plant.self).where { $0.name == "Fern" }.count == 1)
  }
}
