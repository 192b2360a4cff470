import Foundation
import RealmSwift

final class Dog: Object {
  @Persisted var name = ""
  @Persisted var age = 0
  @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
}

final class Person: Object {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted var name = ""
  @Persisted var dogs: List<Dog>
}

let url = FileManager.default.temporaryDirectory.appendingPathComponent("first-objects.realm")
let realm = try Realm(fileURL: url)
let young = realm.objects(Dog.self).where { $0.age < 3 }
try realm.write {
  let ann = realm.create(Person.self, value: ["name": "Ann", "dogs": [["name": "Rex", "age": 1]]])
  ann.dogs[0].age += 1
}
for dog in young.sorted(by: \.name) {
  print("\(dog.name), \(dog.age), belongs to \(dog.owners.first?.name ?? "nobody")")
}
print("\(young.count) young dogs in \(url.path); run it again for one more.")
