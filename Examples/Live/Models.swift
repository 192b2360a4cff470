import RealmSwift

/// A share with its price, in cents.
final class Share: Object {
  @Persisted(primaryKey: true) var symbol: String
  @Persisted var price: Int
}

extension Int {
  /// Cents, as people write prices.
  var asPrice: String { "\(self / 100).\(self % 100 < 10 ? "0" : "")\(self % 100)" }
}
