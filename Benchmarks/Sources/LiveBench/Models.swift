import RealmSwift

final class Item: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var value: Int
  @Persisted(indexed: true) var group: Int
  @Persisted var name: String
}

final class Point: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var value: Int
  @Persisted var links: List<Point>
}

final class Other: Object {
  @Persisted var value: Int
}
