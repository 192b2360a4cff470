import Foundation
import RealmSwift

// listing: moved classes
class Composer: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name = ""
  @Persisted(originProperty: "composer") var works: LinkingObjects<Symphony>
}

class Symphony: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted(indexed: true) var title = ""
  @Persisted var year: Int?
  @Persisted var composer: Composer?
  @Persisted var keywords: List<String>
}
// end

// listing: read lines of JSON
/// Makes objects of lines such as `{"class": "Composer", "values": {"id": 1, "name": "Clara Schumann"}}`.
func importLines(_ lines: some Sequence<Substring>, into realm: Realm) throws {
  let classes: [String: Object.Type] = ["Composer": Composer.self, "Symphony": Symphony.self]
  try realm.write {
    for line in lines {
      let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      guard let name = json?["class"] as? String, let type = classes[name], let values = json?["values"]
      else { continue }
      realm.create(type, value: values, update: .modified)
    }
  }
}
// end

extension Listings {
  static let moving: [String: Listing] = [
    "use lines of JSON": { print in
      let realm = try Realm(
        configuration: Realm.Configuration(
          inMemoryIdentifier: UUID().uuidString, objectTypes: [Composer.self, Symphony.self]))
      // listing: use lines of JSON
      let lines = """
        {"class": "Symphony", "values": {"id": 7, "title": "Eroica", "year": 1804, "composer": {"id": 1}}}
        {"class": "Symphony", "values": {"id": 8, "title": "Sketches", "year": null, "keywords": ["lost"]}}
        {"class": "Composer", "values": {"id": 1, "name": "Ludwig van Beethoven"}}
        """
      try importLines(lines.split(separator: "\n"), into: realm)
      for symphony in realm.objects(Symphony.self) {
        let composer = symphony.composer?.name ?? "nobody"
        print(symphony.title, symphony.year ?? 0, composer, Array(symphony.keywords))
      }
      // end
    }
  ]
}
