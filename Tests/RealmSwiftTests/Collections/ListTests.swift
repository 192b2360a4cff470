import Foundation
import RealmSwift
import Testing

@Suite("Lists")
struct ListTests {
  /// Does a random operation to a list and to an array.
  private func change(_ list: List<Int>, _ model: inout [Int], _ random: inout SystemRandomNumberGenerator) {
    let value = Int.random(in: 0..<100, using: &random)
    let place = Int.random(in: 0...model.count, using: &random)
    switch Int.random(in: 0..<15, using: &random) {
    case 0, 1:
      list.append(value)
      model.append(value)
    case 2:
      list.insert(value, at: place)
      model.insert(value, at: place)
    case 3 where place < model.count:
      list.remove(at: place)
      model.remove(at: place)
    case 4 where place < model.count:
      list[place] = value
      model[place] = value
    case 5 where model.count > 1:
      list.move(from: 0, to: model.count - 1)
      model.append(model.removeFirst())
    case 6 where model.count > 1:
      list.swapAt(0, model.count - 1)
      model.swapAt(0, model.count - 1)
    case 7 where !model.isEmpty:
      list.removeLast()
      model.removeLast()
    case 8:
      list.append(objectsIn: [value, value])
      model += [value, value]
    case 9:
      list.insert(contentsOf: [value, -value], at: place)
      model.insert(contentsOf: [value, -value], at: place)
    case 10:
      list.removeSubrange(place...)
      model.removeSubrange(place...)
    case 11:
      let range = place..<min(place + 3, model.count)
      list.replaceSubrange(range, with: [value])
      model.replaceSubrange(range, with: [value])
    case 12 where place < model.count:
      list.replace(index: place, object: value)
      model[place] = value
    case 13:
      let offsets = IndexSet(model.indices.filter { _ in Bool.random(using: &random) })
      list.remove(atOffsets: offsets)
      model = model.indices.filter { !offsets.contains($0) }.map { model[$0] }
    case 14:
      let offsets = IndexSet(model.indices.filter { _ in Bool.random(using: &random) })
      list.move(fromOffsets: offsets, toOffset: place)
      let (before, behind) = (model.indices.filter { $0 < place }, model.indices.filter { $0 >= place })
      let order =
        before.filter { !offsets.contains($0) } + Array(offsets) + behind.filter { !offsets.contains($0) }
      model = order.map { model[$0] }
    default: break
    }
  }

  @Test("An unmanaged and a managed list behave as an array does")
  func model() throws {
    var random = SystemRandomNumberGenerator()
    let realm = try memoryRealm()
    let unmanaged = List<Int>()
    let object = Everything()
    try realm.write { realm.add(object) }
    var (first, second): ([Int], [Int]) = ([], [])
    for _ in 0..<200 {
      change(unmanaged, &first, &random)
      try realm.write { change(object.ints, &second, &random) }
      #expect(Array(unmanaged) == first && Array(object.ints) == second)
      #expect(
        object.ints.count == second.count && object.ints.first == second.first
          && object.ints.last == second.last)
    }
    #expect(object.ints.index(of: second.first ?? 0) == second.first.map { _ in 0 })
    #expect(Array(object.ints.prefix(2)) == Array(second.prefix(2)))
  }

  @Test("Lists and results are coded as arrays of their elements")
  func coding() throws {
    let realm = try memoryRealm()
    let object = Everything(value: ["ints": [3, 1, 2], "optionalStrings": ["a", nil] as [String?]])
    #expect(String(decoding: try JSONEncoder().encode(object.ints), as: UTF8.self) == "[3,1,2]")
    try realm.write { realm.add(object) }
    #expect(String(decoding: try JSONEncoder().encode(object.ints), as: UTF8.self) == "[3,1,2]")
    #expect(
      String(decoding: try JSONEncoder().encode(object.optionalStrings), as: UTF8.self) == #"["a",null]"#)
    #expect(Array(try JSONDecoder().decode(List<Int>.self, from: Data("[7,8]".utf8))) == [7, 8])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(List<Int>.self, from: Data("[true]".utf8))
    }
    #expect(object.ints.objects(at: [0, 2]) == [3, 2] && object.ints.index(of: 1) == 1)
    let results = realm.objects(Everything.self)
    #expect(results.index(of: object) == 0 && results.index(of: Everything()) == nil)
  }

  @Test("An assignment copies the content into the existing list, and changes nothing if it is the same list")
  func assigning() throws {
    let realm = try memoryRealm()
    let (first, second) = (Everything(), Everything())
    first.ints.append(objectsIn: [1, 2])
    second.ints = [3]
    let kept = second.ints
    second.ints = first.ints
    #expect(second.ints === kept && Array(kept) == [1, 2] && first.ints !== kept)
    try realm.write {
      realm.add([first, second])
      second.ints.removeAll()
      second.ints = first.ints
      first.ints = first.ints
    }
    #expect(second.ints === kept && Array(kept) == [1, 2] && Array(first.ints) == [1, 2])
    let again = realm.objects(Everything.self)[0]
    #expect(again.ints === again.ints && again.ints == first.ints && again.ints != second.ints)
  }

  @Test("Appending an unmanaged object to a managed list adds it")
  func addingByAppending() throws {
    let realm = try memoryRealm()
    let person = Person(id: 1, name: "a", age: 1)
    try realm.write {
      realm.add(person)
      person.dogs.append(Dog(value: ["name": "Rex"]))
      person.dog = Dog(value: ["name": "Ida"])
    }
    #expect(realm.objects(Dog.self).count == 2 && person.dog?.name == "Ida")
    try realm.write { realm.delete(person.dogs) }
    #expect(person.dogs.isEmpty && realm.objects(Dog.self).count == 1)
  }

  @Test("Other handles, queries and backlinks see the changes of a list in a transaction at once")
  func changesAreSeen() throws {
    let realm = try memoryRealm()
    let person = Person(id: 1, name: "a", age: 1)
    try realm.write { realm.add(person) }
    let other = realm.objects(Person.self)[0]
    let (rex, ida) = (Dog(value: ["name": "Rex"]), Dog(value: ["name": "Ida"]))
    try realm.write {
      person.dogs.append(rex)
      #expect(other.dogs.map(\.name) == ["Rex"])
      other.dogs.append(ida)
      person.dogs.append(rex)
      #expect(person.dogs.map(\.name) == ["Rex", "Ida", "Rex"])
      #expect(realm.objects(Person.self).where { $0.dogs.count == 3 && $0.dogs.name == "Ida" }.count == 1)
      #expect(rex.people.count == 2 && person.dogs.sorted(by: \.name).first?.name == "Ida")
      person.words.append("x")
      person.age = 7
      #expect(Array(other.words) == ["x"] && other.age == 7)
      realm.delete(rex)
      #expect(person.dogs.map(\.name) == ["Ida"] && other.dogs.count == 1)
      person.dogs.append(Dog(value: ["name": "Bob"]))
    }
    #expect(
      person.dogs.map(\.name) == ["Ida", "Bob"] && Array(person.words) == ["x"] && ida.people.count == 1)
    realm.beginWrite()
    person.dogs.removeAll()
    person.words.append("y")
    #expect(other.dogs.isEmpty)
    realm.cancelWrite()
    #expect(person.dogs.count == 2 && Array(other.words) == ["x"])
    try realm.write {
      person.words.append("z")
      realm.delete(person)
    }
    #expect(other.isInvalidated && realm.objects(Dog.self).count == 2)
    try realm.write {
      let again = Person(id: 2, name: "b", age: 1)
      again.words.append("before")
      realm.add(again)
      again.words.append("after")
      realm.deleteAll()
    }
    #expect(realm.isEmpty)
  }
}
