import Foundation
import RealmStorage
import RealmSwift
import Testing

private class Hidden: Object {
  @Persisted var value: Int
}

private class Movie: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted(indexed: true) var name: String
  @Persisted var next: Movie?
  @Persisted var labels: List<String>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Model classes")
struct ClassTests {
  class Film: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var title: String
    @Persisted var sequel: Film?
    @Persisted var tags: List<String>
    @Persisted(originProperty: "sequel") var precursors: LinkingObjects<Film>

    override class func _realmObjectName() -> String? { "Movie" }
    override class func propertiesMapping() -> [String: String] {
      ["id": "_id", "title": "name", "sequel": "next", "tags": "labels"]
    }
  }
  class Remake: Film {
    @Persisted var year: Int
    override class func _realmObjectName() -> String? { "Remake" }
  }

  @Test("A class and its properties are stored with the names that the class gives them")
  func renamed() throws {
    let file = TemporaryFile()
    var configuration = file.configuration
    configuration.objectTypes = [Film.self, Remake.self]
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        let first = realm.create(Film.self, value: ["id": 1, "title": "One", "tags": ["a"]])
        let second = realm.create(Film.self, value: ["id": 2, "title": "Two"])
        first.sequel = second
        second.tags.append("b")
        realm.create(Film.self, value: ["id": 2, "title": "Two!"], update: .modified)
        realm.create(Remake.self, value: ["id": 1, "title": "Again", "year": 1999])
      }
      let films = realm.objects(Film.self)
      #expect(films.where { $0.title == "Two!" && $0.tags.contains("b") }.count == 1)
      #expect(films.where { $0.sequel.title == "Two!" }.first?.precursors.isEmpty == true)
      #expect(films.sorted(by: \.title, ascending: false).first?.precursors.first?.id == 1)
      #expect(films.sorted(byKeyPath: "sequel.title").count == 2 && films.sum(of: \.id) == 3)
      #expect(realm.object(ofType: Film.self, forPrimaryKey: 2)?["title"] as? String == "Two!")
      #expect(Film.className() == "Movie" && films[0].description.hasPrefix("Movie {\n\tid = 1;"))
    }
    let database = try Database(path: file.url.path)
    let schemas = try database.snapshot().schemas()
    database.close()
    #expect(schemas.map(\.name).sorted() == ["Movie", "Remake"])
    #expect(schemas.first { $0.name == "Movie" }?.columns.map(\.name) == ["_id", "name", "next", "labels"])
    #expect(
      schemas.first { $0.name == "Remake" }?.columns.map(\.name) == ["_id", "name", "next", "labels", "year"])
    // A class whose own names are these opens the file unchanged.
    configuration.objectTypes = [Movie.self]
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Movie.self).sorted(by: \._id).map(\.name) == ["One", "Two!"])
    #expect(realm.objects(Movie.self).where { $0.next.name == "Two!" }.first?.labels.first == "a")
  }

  @Test("Properties of a generic superclass are stored")
  func generic() throws {
    let realm = try memoryRealm()
    try realm.write {
      realm.create(OfText.self, value: ["content": "a"])
      realm.create(OfNumber.self, value: ["content": 4])
    }
    let text = realm.objects(OfText.self)[0]
    #expect(text.content == "a" && text.extra == 3 && realm.objects(OfNumber.self)[0].content == 4)
    #expect(realm.objects(OfText.self).where { $0.content == "a" && $0.extra == 3 }.count == 1)
    #expect(realm.objects(OfText.self).sorted(by: \.content).count == 1)
  }

  @Test("A private class is stored, and so are properties with uncommon names")
  func names() throws {
    let realm = try memoryRealm()
    try realm.write {
      realm.create(Hidden.self, value: [3])
      realm.create(Names.self, value: [1, 2, 3, "名", 5, 6, "c", 8])
    }
    let names = realm.objects(Names.self)[0]
    #expect(realm.objects(Hidden.self)[0].value == 3)
    #expect(names.class == 1 && names.self.größe == 3 && names.名前 == "名" && names.newValue == 5)
    #expect(names.row == 6 && names.context == "c" && names._under == 8)
    #expect(realm.objects(Names.self).where { $0.größe == 3 && $0.名前 == "名" && $0._under == 8 }.count == 1)
    #expect(realm.objects(Names.self).sorted(by: \.größe).count == 1)
  }

  @Test("Observers of a property run on an assignment to a managed or an unmanaged object")
  func observers() throws {
    let realm = try memoryRealm()
    let object = Observed()
    object.number = 3
    #expect(object.log == ["will 3", "did 0"])
    try realm.write {
      realm.add(object)
      object.number = 4
    }
    #expect(object.log == ["will 3", "did 0", "will 4", "did 3"] && object.number == 4)
    #expect(Observed(value: ["number": 5]).log.isEmpty)
    try realm.write {
      let found = realm.objects(Observed.self)[0]
      found.number += 1
      #expect(found.log == ["will 5", "did 4"])
      #expect(realm.create(Observed.self, value: [9]).log.isEmpty)
    }
  }

  @Test("A class may be listed twice")
  func listedTwice() throws {
    let realm = try memoryRealm([Base.self, Base.self])
    try realm.write { realm.create(Base.self, value: [1]) }
    #expect(realm.objects(Base.self).count == 1)
  }
}

class Measurement: AsymmetricObject {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var degrees: Double
  @Persisted var place: Address?
}

@Suite struct AsymmetricObjectTests {
  @Test func `asymmetric objects are written, and are found by a program that reads the file`() throws {
    let file = TemporaryFile()
    let configuration = Realm.Configuration(
      fileURL: file.url,
      objectTypes: [Measurement.self, Address.self, Room.self, Household.self, Dog.self, Person.self])
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        realm.create(
          Measurement.self, value: ["id": 1, "degrees": 21.5, "place": ["street": "A"]] as [String: Any])
        realm.create(Measurement.self, value: Measurement(value: [2, 19.0] as [Any]))
      }
      #expect(realm.schema["Measurement"]?.isAsymmetric == true && realm.schema["Dog"]?.isAsymmetric == false)
      #expect(!realm.isEmpty)
      try realm.verify()
    }
    let table = try #require(try Database(path: file.url.path).snapshot().table("Measurement"))
    #expect(table.count == 2)
  }
}
