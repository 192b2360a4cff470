import Foundation
import RealmSwift

extension Listings {
  static let limits: [String: Listing] = [
    "versions in use": { print in
      // listing: versions in use
      var configuration = Realm.Configuration(inMemoryIdentifier: "versions", objectTypes: [Book.self])
      configuration.maximumNumberOfActiveVersions = 2
      let realm = try Realm(configuration: configuration)
      var frozen: [Realm] = []
      do {
        for number in 1...9 {
          try realm.write { realm.create(Book.self, value: ["isbn": "\(number)"]) }
          frozen.append(realm.freeze())
        }
      } catch Realm.Error.fail {
        print("books:", realm.objects(Book.self).count, "frozen realms:", frozen.count)
      }
      frozen = []  // Their versions are no longer in use.
      try realm.write { realm.create(Book.self, value: ["isbn": "10"]) }
      print("books:", realm.objects(Book.self).count)
      // end
    }
  ]
}
