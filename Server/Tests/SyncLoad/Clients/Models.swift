import Foundation
import RealmSwift

/// A small object: three values and a key.
final class Item: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var place: Int
  @Persisted var count: Int
  @Persisted var text: String
}

/// The object of the benchmarks, with nine values.
final class Person: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var email: String
  @Persisted var age: Int
  @Persisted var score: Double
  @Persisted var active: Bool
  @Persisted var created: Date
  @Persisted(indexed: true) var city: String
  @Persisted var bio: String?
}

/// A number that clients change.
final class Counter: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var number: Int

  /// The id of a writer's counter, which an observer watches.
  static let shared = 1
  /// The id of the counter of an app that writes during a download.
  static let own = 2
}

/// The classes that a client asks for.
enum Content: String, Sendable, CaseIterable {
  case items
  case persons
  /// Persons, and counters. The app writes one of the counters.
  case both
  case counters

  var types: [ObjectBase.Type] {
    switch self {
    case .items: [Item.self]
    case .persons: [Person.self]
    case .both: [Person.self, Counter.self]
    case .counters: [Counter.self]
    }
  }

  /// Subscribes to all objects of the classes.
  func subscribe(_ subscriptions: SyncSubscriptionSet) {
    switch self {
    case .items: subscriptions.append(QuerySubscription<Item>())
    case .persons: subscriptions.append(QuerySubscription<Person>())
    case .both:
      subscriptions.append(QuerySubscription<Person>())
      subscriptions.append(QuerySubscription<Counter>())
    case .counters: subscriptions.append(QuerySubscription<Counter>())
    }
  }

  /// A new object of the first class.
  func object(_ number: Int) -> Object {
    switch self {
    case .items:
      let item = Item()
      (item.id, item.place, item.count) = (number, number % 4, number)
      item.text = "object \(number)"
      return item
    case .persons, .both: return Person(PersonValues(number))
    case .counters:
      let counter = Counter()
      counter.id = number
      return counter
    }
  }
}

extension Person {
  fileprivate convenience init(_ values: PersonValues) {
    self.init()
    (id, name, email, age) = (values.id, values.name, values.email, values.age)
    (score, active, city, bio) = (values.score, values.active, values.city, values.bio)
    created = Date(timeIntervalSince1970: Double(values.created))
  }
}
