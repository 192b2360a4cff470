import Foundation
import RealmSwift
import Testing

private struct Color: CustomPersistable, Comparable {
  var rgb: Int
  init(_ rgb: Int) { self.rgb = rgb }
  init(persistedValue: Int) { rgb = persistedValue }
  var persistableValue: Int { rgb }
  static func < (left: Color, right: Color) -> Bool { left.rgb < right.rgb }
}

private struct Page: FailableCustomPersistable, Comparable {
  static func < (left: Page, right: Page) -> Bool { left.url.absoluteString < right.url.absoluteString }
  var url: URL
  init?(_ text: String) { self.init(persistedValue: text) }
  init?(persistedValue: String) {
    guard let url = URL(string: persistedValue), url.scheme != nil else { return nil }
    self.url = url
  }
  var persistableValue: String { url.absoluteString }
}

private class Bookmark: Object {
  @Persisted(primaryKey: true) var page = Page("https://example.org")!
  @Persisted(indexed: true) var color: Color
  @Persisted var mirror: Page?
  @Persisted var shades: List<Color>
  @Persisted var mirrors: List<Page?>
}

/// A class with the same rows and the types that are stored.
private class PlainBookmark: Object {
  @Persisted(primaryKey: true) var page: String
  @Persisted(indexed: true) var color: Int
  @Persisted var mirror: String?
  @Persisted var shades: List<Int>
  @Persisted var mirrors: List<String?>
  override class func _realmObjectName() -> String? { "Bookmark" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct CustomPersistableTests {
  private let one = Page("https://one.example")!
  private let two = Page("https://two.example")!

  @Test func `values of the program's own types are stored as other values are`() throws {
    let file = TemporaryFile()
    var configuration = file.configuration
    configuration.objectTypes = [Bookmark.self]
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      let bookmark = Bookmark()
      #expect(bookmark.page.url.host == "example.org" && bookmark.color == Color(0) && bookmark.mirror == nil)
      bookmark.page = one
      bookmark.shades.append(objectsIn: [Color(3), Color(1)])
      bookmark.mirrors.append(objectsIn: [two, nil])
      try realm.write {
        realm.add(bookmark)
        bookmark.color = Color(0xff0000)
        bookmark.mirror = two
        realm.create(
          Bookmark.self,
          value: ["page": "https://two.example", "color": 5, "shades": [Color(1), 2] as [Any]])
      }
      let all = realm.objects(Bookmark.self)
      #expect(realm.object(ofType: Bookmark.self, forPrimaryKey: one) == bookmark)
      #expect(realm.object(ofType: Bookmark.self, forPrimaryKey: "https://two.example")?.color == Color(5))
      #expect(Array(bookmark.shades) == [Color(3), Color(1)] && Array(bookmark.mirrors) == [two, nil])
      #expect(all.where { $0.color == Color(5) }.count == 1 && all.where { $0.color > Color(5) }.count == 1)
      #expect(
        all.where { $0.mirror == nil }.count == 1 && all.where { $0.shades.contains(Color(2)) }.count == 1)
      #expect(all.sorted(by: \.color).map(\.color) == [Color(5), Color(0xff0000)])
      #expect(all.max(of: \.color) == Color(0xff0000) && all.sum(of: \.color) == Color(0xff0005))
      #expect(Set(all.map(\.page)).count == 2)
      // No page is made of an empty text.
      #expect(all.where { $0.page == one }.count == 1 && all.sorted(by: \.page).first?.page == one)
    }
    configuration.objectTypes = [PlainBookmark.self]
    let realm = try Realm(configuration: configuration)
    let plain = realm.object(ofType: PlainBookmark.self, forPrimaryKey: "https://one.example")
    #expect(plain?.color == 0xff0000 && plain?.mirror == "https://two.example")
    #expect(
      plain.map { Array($0.shades) } == [3, 1]
        && plain.map { Array($0.mirrors) } == ["https://two.example", nil])
  }

  @Test func `a stored value that the type can't read is nil in an optional property`() throws {
    let file = TemporaryFile()
    var configuration = file.configuration
    configuration.objectTypes = [PlainBookmark.self]
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        realm.create(
          PlainBookmark.self,
          value: ["page": "https://one.example", "mirror": "none", "mirrors": ["none", nil]] as [String: Any?]
        )
      }
    }
    configuration.objectTypes = [Bookmark.self]
    let bookmark = try #require(Realm(configuration: configuration).objects(Bookmark.self).first)
    #expect(bookmark.mirror == nil && Array(bookmark.mirrors) == [nil, nil] && bookmark.page == one)
  }

  @Test func `an enumeration may be a primary key, and its default is its first case`() throws {
    #expect(Mood() == Mood.allCases.first)
    let realm = try memoryRealm([Feeling.self])
    try realm.write { realm.add(Feeling(value: ["mood": Mood.merry, "note": "x"])) }
    #expect(realm.object(ofType: Feeling.self, forPrimaryKey: Mood.merry)?.note == "x")
    #expect(realm.object(ofType: Feeling.self, forPrimaryKey: "merry")?.note == "x")
    #expect(realm.object(ofType: Feeling.self, forPrimaryKey: Mood.calm) == nil)
  }
}

private class Feeling: Object {
  @Persisted(primaryKey: true) var mood: Mood
  @Persisted var note: String
}
