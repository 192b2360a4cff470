import Foundation
import RealmSwift
import RealmTestSupport
import Testing

class Street: Object {
  @Persisted var numbers: List<Int>
  @Persisted var words: List<String?>
  @Persisted var values: List<AnyRealmValue>
  @Persisted var dogs: List<Dog>
  @Persisted var houses: List<House>
}
class House: EmbeddedObject {
  @Persisted var number: Int
}

private let types: [ObjectBase.Type] = [Street.self, House.self, Dog.self, Person.self]

/// Changes of any mutable collection that the standard library offers.
private func change<C: MutableCollection & RandomAccessCollection>(
  _ collection: inout C, _ choice: Int, _ generator: inout SeededGenerator
) where C.Element == Int, C.Index == Int {
  switch choice {
  case 0: collection.sort()
  case 1: collection.reverse()
  case 2: collection.shuffle(using: &generator)
  case 3: if collection.count > 1 { collection.swapAt(0, collection.count - 1) }
  case 4: for index in collection.indices { collection[index] += 1 }
  case 5: if collection.count > 3 { collection[1..<4].sort(by: >) }
  default: if collection.count > 4 { collection[2..<4] = collection[0..<2] }
  }
}

@Suite struct ListOrderTests {
  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a list behaves as an array does, as any mutable collection`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let realm = try memoryRealm(types)
    let street = Street()
    for _ in 0..<2 {
      for _ in 0..<60 {
        realm.beginWrite()
        var array = (0..<generator.below(8)).map { _ in generator.below(20) }
        street.numbers.removeAll()
        street.numbers.append(objectsIn: array)
        for _ in 0..<4 {
          let (choice, seed) = (generator.below(7), generator.next())
          var (one, other) = (SeededGenerator(seed: seed), SeededGenerator(seed: seed))
          change(&street.numbers, choice, &one)
          change(&array, choice, &other)
          #expect(Array(street.numbers) == array, "choice \(choice), seed \(seed)")
        }
        try realm.commitWrite()
        #expect(Array(street.numbers) == array)
      }
      if street.realm == nil { try realm.write { realm.add(street) } }
    }
    try realm.verify()
  }

  @Test func `a list in a constant is sorted, reversed, shuffled and partitioned in place`() throws {
    let realm = try memoryRealm(types)
    let street = Street(value: ["numbers": [3, 1, 2, 5, 4], "words": ["b", nil, "a"] as [String?]])
    realm.beginWrite()
    for _ in 0..<2 {
      let numbers = street.numbers
      numbers.sort()
      #expect(Array(numbers) == [1, 2, 3, 4, 5])
      numbers.reverse()
      #expect(Array(numbers) == [5, 4, 3, 2, 1])
      let border = numbers.partition { $0 % 2 == 0 }
      #expect(border == 3 && Array(numbers) == [5, 3, 1, 4, 2])
      numbers.sort { $0 > $1 }
      #expect(Array(numbers).sorted() == [1, 2, 3, 4, 5] && numbers.first == 5)
      numbers.shuffle()
      #expect(Set(numbers) == [1, 2, 3, 4, 5] && numbers.count == 5)
      street.words.sort { ($0 ?? "") < ($1 ?? "") }
      #expect(Array(street.words) == [nil, "a", "b"])
      if street.realm == nil { realm.add(street) }
    }
    try realm.commitWrite()
  }

  @Test func `ranges are replaced by slices of other lists, of any length`() throws {
    let realm = try memoryRealm(types)
    let (street, other) = (Street(), Street())
    realm.beginWrite()
    for _ in 0..<2 {
      street.numbers = [0, 1, 2, 3, 4, 5]
      other.numbers = [10, 11, 12]
      #expect(Array(street.numbers[1..<4]) == [1, 2, 3])
      street.numbers[1..<4] = other.numbers[0..<2]
      #expect(Array(street.numbers) == [0, 10, 11, 4, 5])
      street.numbers[0..<0] = other.numbers[1...]
      #expect(Array(street.numbers) == [11, 12, 0, 10, 11, 4, 5])
      street.numbers[0..<3] = street.numbers[4..<7]
      #expect(Array(street.numbers) == [11, 4, 5, 10, 11, 4, 5])
      street.numbers[2...] = other.numbers[0..<0]
      #expect(Array(street.numbers) == [11, 4])
      if street.realm == nil { realm.add([street, other]) }
    }
    try realm.commitWrite()
  }

  @Test func `objects and embedded objects stay the same in another order`() throws {
    let realm = try memoryRealm(types)
    let street = Street(
      value: ["dogs": ["c", "a", "b"].map { ["name": $0] }, "houses": [3, 1, 2].map { ["number": $0] }]
        as [String: Any])
    let rex = street.dogs[1]
    try realm.write {
      realm.add(street)
      street.dogs.sort { $0.name < $1.name }
      street.houses.sort { $0.number < $1.number }
      street.houses.swapAt(0, 2)
      street.houses.reverse()
    }
    #expect(street.dogs.map(\.name) == ["a", "b", "c"] && street.dogs.first?.isSameObject(as: rex) == true)
    #expect(street.houses.map(\.number) == [1, 2, 3] && street.houses.allSatisfy { !$0.isInvalidated })
    try realm.verify()
  }

  @Test func `a nested list stays the same in another order`() throws {
    let realm = try memoryRealm(types)
    let street = Street()
    street.values.append(objectsIn: [.fromArray([.int(1)]), .fromArray([.int(2)])])
    try realm.write { realm.add(street) }
    let first = try #require(street.values[0].listValue)
    try realm.write {
      street.values.reverse()
      first.append(.int(3))
    }
    #expect(first.map(\.intValue) == [1, 3] && street.values[0].listValue?.first == .int(2))
    #expect(street.values[1].listValue == first)
    try realm.verify()
  }

  @Test func `a sort whose comparison throws changes nothing`() throws {
    struct Stop: Error {}
    let list = List<Int>()
    list.append(objectsIn: [2, 1, 3])
    #expect(throws: Stop.self) { try list.sort { _, _ in throw Stop() } }
    #expect(throws: Stop.self) { _ = try list.partition { _ in throw Stop() } }
    #expect(Array(list) == [2, 1, 3])
  }
}

extension MisuseTests {
  @Test func `a list changes its order only in a write transaction, and only in a range that it has`() {
    expectStop(["Not in a write transaction", "Street.numbers"]) {
      let realm = try memoryRealm(types)
      let street = Street(value: ["numbers": [2, 1]])
      try realm.write { realm.add(street) }
      street.numbers.sort()
    }
    expectStop(["Index out of range", "1..<3"]) { _ = Street(value: ["numbers": [2, 1]]).numbers[1..<3] }
  }
}
