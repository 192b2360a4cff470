import Foundation
import RealmSwift
import Testing

private class Recipe: Object, Codable {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var title: String
  @Persisted var minutes: Int?
  @Persisted var price: Decimal128
  @Persisted var steps: List<String>
  @Persisted var next: Recipe?
}

private class Card: Object, ObjectKeyIdentifiable {
  @Persisted var title: String
}

@Suite struct CodingTests {
  private let json = #"""
    {"id": "0123456789abcdef01234567", "title": "Soup", "price": "1.50", "steps": ["boil", "wait"],
     "next": {"id": "0123456789abcdef01234568", "title": "Tea", "minutes": 4, "price": 2, "steps": []}}
    """#

  @Test func `a model is decoded with nil for a missing key, and encoded again`() throws {
    let recipe = try JSONDecoder().decode(Recipe.self, from: Data(json.utf8))
    #expect(
      recipe.id == ObjectId("0123456789abcdef01234567") && recipe.title == "Soup" && recipe.minutes == nil)
    #expect(recipe.price.stringValue == "1.5" && Array(recipe.steps) == ["boil", "wait"])
    #expect(recipe.next?.minutes == 4 && recipe.next?.next == nil)
    let again = try JSONDecoder().decode(Recipe.self, from: JSONEncoder().encode(recipe))
    #expect(again.description == recipe.description)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Recipe.self, from: Data("{}".utf8)) }
  }

  @Test func `an id that was never read is encoded, and keeps that value`() throws {
    let recipe = Recipe()
    let text = String(decoding: try JSONEncoder().encode(recipe), as: UTF8.self)
    #expect(text.contains(recipe.id.stringValue))
  }

  @Test func `an object in a realm is encoded with the values of its row`() throws {
    let realm = try memoryRealm([Recipe.self])
    let recipe = try JSONDecoder().decode(Recipe.self, from: Data(json.utf8))
    let before = try JSONSerialization.jsonObject(with: JSONEncoder().encode(recipe)) as? NSDictionary
    try realm.write { realm.add(recipe) }
    #expect(realm.objects(Recipe.self).count == 2)
    func encoded(_ recipe: Recipe) throws -> NSDictionary? {
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(recipe)) as? NSDictionary
    }
    let after = try encoded(recipe)
    #expect(after == before, "the instance that was added")
    let found = try #require(realm.object(ofType: Recipe.self, forPrimaryKey: recipe.id))
    let ofHandle = try encoded(found)
    #expect(ofHandle == before && found.title == "Soup" && found.minutes == nil)
    try realm.write {
      found.minutes = 20
      found.steps.append("serve")
      let changed = try encoded(recipe)
      #expect(changed?["minutes"] as? Int == 20)
    }
    #expect(recipe.minutes == 20 && recipe["minutes"] as? Int == 20)
    let steps = try encoded(found)?["steps"] as? [String]
    #expect(steps?.count == 3)
    let all =
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(realm.objects(Recipe.self)))
      as? [NSDictionary]
    #expect(all?.compactMap { $0["title"] as? String }.sorted() == ["Soup", "Tea"])
    let tea = try #require(recipe.next)
    let text = String(decoding: try JSONEncoder().encode(Recipe(value: tea)), as: UTF8.self)
    #expect(text.contains(#""title":"Tea""#) && text.contains(#""minutes":4"#))
    #expect(realm.objects(Recipe.self).count == 2)
  }

  @Test func `an object is identified by its row`() throws {
    let realm = try memoryRealm([Card.self])
    let (first, second) = (Card(), Card())
    #expect(first.id != second.id && first.id == first.id)
    try realm.write { realm.add([first, second]) }
    let cards = realm.objects(Card.self)
    #expect(Set(cards.map(\.id)).count == 2 && cards[0].id == realm.objects(Card.self)[0].id)
    #expect(cards.index(of: cards[1]) == 1 && cards.index(of: Card()) == nil)
  }

  @Test func `a type-erased collection shows the elements of its collection`() throws {
    let realm = try memoryRealm()
    let person = Person(id: 1, name: "Ann", age: 3)
    try realm.write {
      realm.add(person)
      person.dogs.append(objectsIn: [Dog(value: ["name": "Rex"]), Dog(value: ["name": "Ida"])])
    }
    let all = [
      AnyRealmCollection(person.dogs), AnyRealmCollection(realm.objects(Dog.self)),
      AnyRealmCollection(AnyRealmCollection(person.dogs)),
    ]
    for dogs in all {
      #expect(dogs.map(\.name) == ["Rex", "Ida"] && dogs.count == 2 && dogs.first?.name == "Rex")
      #expect(dogs.index(of: person.dogs[1]) == 1 && dogs.realm == realm && !dogs.isInvalidated)
      #expect(dogs.where { $0.name == "Ida" }.count == 1 && dogs.sorted(by: \.name).first?.name == "Ida")
    }
    #expect(all[0] == all[2] && all[0] != all[1])
    #expect(all[0].description == person.dogs.description)
    let numbers = List<Int>()
    numbers.append(objectsIn: [1, 2])
    #expect(AnyRealmCollection(numbers).reduce(0, +) == 3 && AnyRealmCollection(numbers).realm == nil)
    #expect(person.dogs[0].people.index(of: person) == 0)
  }
}
