import Foundation
import RealmSwift

// listing: book
class Book: Object {
  @Persisted(primaryKey: true) var isbn: String
  @Persisted(indexed: true) var title = "untitled"
  @Persisted var pages: Int
  @Persisted var price: Double?
  @Persisted var isRead = false
  @Persisted var published: Date?
  @Persisted var cover: Data
}
// end

// listing: links
class Novel: Object {
  @Persisted var title: String
  @Persisted var author: Author?
  @Persisted var keywords: List<String>
  @Persisted var related: MutableSet<Novel>
  @Persisted var reviews: Map<String, Int>
}

class Author: Object {
  @Persisted var name: String
  @Persisted(originProperty: "author") var novels: LinkingObjects<Novel>
}
// end

// listing: embedded
class Postcode: EmbeddedObject {
  @Persisted var code: String
  @Persisted var town: String
}

class Library: Object {
  @Persisted var name: String
  @Persisted var place: Postcode?
  @Persisted var branches: List<Postcode>
}
// end

// listing: enumerations
enum Genre: String, PersistableEnum {
  case fiction, poetry, science
}

class Shelf: Object {
  @Persisted var genre: Genre
  @Persisted var second: Genre?
  @Persisted var others: List<Genre>
}
// end

// listing: custom types
struct Money: CustomPersistable {
  var cents: Int

  init(cents: Int) { self.cents = cents }
  init(persistedValue: Int) { cents = persistedValue }
  var persistableValue: Int { cents }
}

struct Percentage: FailableCustomPersistable {
  let number: Int

  /// Nil for what is none: the property is nil then.
  init?(persistedValue: Int) {
    guard (0...100).contains(persistedValue) else { return nil }
    number = persistedValue
  }
  var persistableValue: Int { number }
}

class Offer: Object {
  @Persisted var price = Money(cents: 0)
  @Persisted var discount: Percentage?
}
// end

// listing: custom embedded
class Coordinates: EmbeddedObject {
  @Persisted var latitude: Double
  @Persisted var longitude: Double
}

struct Place: CustomPersistable {
  var latitude = 0.0
  var longitude = 0.0

  init(latitude: Double, longitude: Double) { (self.latitude, self.longitude) = (latitude, longitude) }
  init(persistedValue: Coordinates) {
    (latitude, longitude) = (persistedValue.latitude, persistedValue.longitude)
  }
  var persistableValue: Coordinates { Coordinates(value: [latitude, longitude]) }
}

class Branch: Object {
  @Persisted var place: Place
  @Persisted var former: List<Place>
}
// end

private class NewShelf: Object {
  @Persisted var genre: String
  @Persisted var second: String?
  @Persisted var others: List<String>
  override class func _realmObjectName() -> String? { "Shelf" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

// listing: renamed
class Reader: Object {
  @Persisted var firstName: String

  override class func propertiesMapping() -> [String: String] { ["firstName": "first_name"] }
  override class func _realmObjectName() -> String? { "Customer" }
}
// end

// listing: inheritance
class Medium: Object {
  @Persisted var title: String
  override class func shouldIncludeInDefaultSchema() -> Bool { self != Medium.self }
}

class Disc: Medium {
  @Persisted var minutes: Int
}
// end

// listing: without persisted
class OldReader: Object {
  let number = RealmProperty<Int?>()
  let loans = List<Book>()
  var isSelected = false

  override class func primaryKey() -> String? { "number" }
  override class func ignoredProperties() -> [String] { ["isSelected"] }
}
// end

// listing: codable
class Loan: Object, Codable {
  @Persisted var book: String
  @Persisted var days: Int
  @Persisted var notes: List<String>
  @Persisted var reader: String?
}
// end

private func open(_ types: ObjectBase.Type...) throws -> Realm {
  try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: types))
}

extension Listings {
  static let models: [String: Listing] = [
    "use custom embedded": { print in
      let realm = try open(Branch.self, Coordinates.self)
      // listing: use custom embedded
      try realm.write {
        let branch = realm.create(Branch.self)
        branch.place = Place(latitude: 47.4, longitude: 8.5)
        branch.former.append(Place(latitude: 47.5, longitude: 8.7))
        realm.create(Branch.self, value: ["place": ["latitude": 46.9, "longitude": 7.4]])
      }
      let branches = realm.objects(Branch.self)
      print(branches[0].place.latitude, branches[0].former[0].longitude, branches[1].place.latitude)
      // end
    },
    "unknown case": { print in
      let file = TemporaryFile()
      let newer = Realm.Configuration(fileURL: file.url, objectTypes: [NewShelf.self])
      try autoreleasing {
        let realm = try Realm(configuration: newer)
        // A newer version of the program has a genre of its own.
        try realm.write {
          _ = realm.create(
            NewShelf.self, value: ["genre": "comic", "others": ["poetry", "comic"]] as [String: Any])
        }
      }
      let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: [Shelf.self]))
      // listing: unknown case
      // A newer version of the program has made a shelf of comics.
      let shelf = realm.objects(Shelf.self)[0]
      print(shelf["genre"] ?? "nil", shelf.persistedValue(of: \.genre), shelf.others.persistedValues)
      print(shelf.others[0], Shelf(value: shelf).persistedValue(of: \.genre))
      // end
    },
    "use links": { print in
      let realm = try open(Novel.self, Author.self)
      // listing: use links
      try realm.write {
        let author = realm.create(Author.self, value: ["name": "Ada"])
        let first = realm.create(Novel.self, value: ["title": "First", "author": author])
        let second = realm.create(Novel.self, value: ["title": "Second", "author": author])
        first.keywords.append(objectsIn: ["sea", "storm"])
        first.related.insert(second)
        first.reviews["Weekly"] = 4
      }
      let author = realm.objects(Author.self)[0]
      print(Array(author.novels.map(\.title)), author.novels[0].reviews["Weekly"] ?? 0)
      // end
    },
    "use embedded": { print in
      let realm = try open(Library.self, Postcode.self)
      // listing: use embedded
      let library = Library(
        value: ["name": "Central", "place": ["code": "8001", "town": "Zürich"]] as [String: Any])
      try realm.write { realm.add(library) }
      let old = library.place
      try realm.write { library.place = Postcode(value: ["8400", "Winterthur"]) }
      print(library.place?.town ?? "", old?.isInvalidated ?? false)
      // end
    },
    "use enumerations": { print in
      let realm = try open(Shelf.self)
      // listing: use enumerations
      let shelf = Shelf()
      print(shelf.genre, shelf.second == nil)
      shelf.genre = .poetry
      shelf.others.append(objectsIn: [.science, .fiction])
      try realm.write { realm.add(shelf) }
      print(realm.objects(Shelf.self).where { $0.genre == .poetry }.count)
      // end
    },
    "use custom types": { print in
      let realm = try open(Offer.self)
      // listing: use custom types
      try realm.write {
        let offer = realm.create(Offer.self)
        offer.price = Money(cents: 1250)
        offer.discount = Percentage(persistedValue: 15)
      }
      let offer = realm.objects(Offer.self)[0]
      print(offer.price.cents, offer.discount?.number ?? 0)
      // end
    },
    "use renamed": { print in
      let realm = try open(Reader.self)
      // listing: use renamed
      try realm.write { realm.create(Reader.self, value: ["firstName": "Ann"]) }
      let stored = realm.schema["Customer"]?["firstName"]?.columnName ?? ""
      print(realm.objects(Reader.self).where { $0.firstName == "Ann" }.count, stored)
      // end
    },
    "use inheritance": { print in
      let realm = try open(Disc.self)
      // listing: use inheritance
      try realm.write { realm.create(Disc.self, value: ["title": "Suites", "minutes": 74]) }
      print(realm.objects(Disc.self)[0].title, realm.schema.objectSchema.map(\.className))
      // end
    },
    "use without persisted": { print in
      let realm = try open(OldReader.self, Book.self)
      // listing: use without persisted
      let reader = OldReader()
      reader.number.value = 12
      reader.loans.append(Book(value: ["isbn": "1", "title": "Atlas"]))
      try realm.write { realm.add(reader) }
      print(realm.object(ofType: OldReader.self, forPrimaryKey: 12)?.loans[0].title ?? "")
      // end
    },
    "use codable": { print in
      let realm = try open(Loan.self)
      // listing: use codable
      let json = Data(#"{"book": "Atlas", "days": 14, "notes": ["torn page"]}"#.utf8)
      let loan = try JSONDecoder().decode(Loan.self, from: json)
      try realm.write { realm.add(loan) }
      print(loan.days, Array(loan.notes), loan.reader ?? "nobody")
      let encoded = try JSONEncoder().encode(loan)
      print(try JSONDecoder().decode(Loan.self, from: encoded).book)
      // end
    },
  ]
}
