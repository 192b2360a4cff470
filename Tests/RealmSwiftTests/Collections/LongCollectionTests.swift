import Foundation
import RealmSwift
import RealmTestSupport
import Testing

class CollectionPart: EmbeddedObject {
  @Persisted var any: List<AnyRealmValue>
}

private class CollectionHolder: Object {
  @Persisted var numbers: List<Int>
  @Persisted var texts: MutableSet<String>
  @Persisted var map: Map<String, Int>
  @Persisted var parts: List<CollectionPart>
}

extension MisuseTests {
  @Test("An embedded object that its list dropped stops the program, even if its collections were read")
  func partsThatWent() {
    expectStop(["Invalidated object", "CollectionPart.any"]) {
      let realm = try memoryRealm([CollectionHolder.self, CollectionPart.self])
      try realm.write {
        let holder = realm.create(CollectionHolder.self)
        let part = CollectionPart()
        part.any.append(.int(1))
        holder.parts.append(part)
        let kept = holder.parts[0]
        #expect(kept.any.count == 1)
        holder.parts.remove(at: 0)
        #expect(kept.isInvalidated)
        _ = kept.any.count
      }
    }
  }
}

@Suite struct LongCollectionTests {
  @Test func `a loop that changes its collection gets the elements of its beginning`() throws {
    let realm = try memoryRealm([CollectionHolder.self, CollectionPart.self])
    try realm.write {
      let holder = realm.create(CollectionHolder.self)
      holder.numbers.append(objectsIn: 0..<5000)
      holder.texts.insert(objectsIn: (1000..<4000).map { "text \($0)" })
      for number in 1000..<4000 { holder.map["key \(number)"] = number }
      for _ in 0..<600 { holder.parts.append(CollectionPart()) }
    }
    let holder = realm.objects(CollectionHolder.self)[0]
    try realm.write {
      var seen: [Int] = []
      for number in holder.numbers {
        seen.append(number)
        if number % 2 == 0 { holder.numbers.remove(at: number / 2) }
        if number % 500 == 0 { holder.numbers.append(-number) }
      }
      #expect(seen == Array(0..<5000) && holder.numbers.count == 2510)
      var texts: [String] = []
      for text in holder.texts {
        texts.append(text)
        holder.texts.remove(text)
        holder.texts.insert("new " + text)
      }
      #expect(texts == (1000..<4000).map { "text \($0)" })
      #expect(holder.texts.count == 3000 && holder.texts.first == "new text 1000")
      var keys: [String] = []
      for entry in holder.map {
        keys.append(entry.key)
        holder.map[entry.key] = entry.key == "key 2000" ? nil : entry.value + 1
      }
      #expect(keys == (1000..<4000).map { "key \($0)" })
      #expect(holder.map.count == 2999 && holder.map["key 1500"] == 1501)
      var live = 0
      for part in holder.parts {
        if part.isInvalidated { continue }
        live += 1
        holder.parts.removeLast()
      }
      #expect(live == 300 && holder.parts.count == 300)
    }
    try realm.verify()
  }

  @Test func `a loop continues over the elements of its beginning when its transaction ends`() throws {
    let realm = try memoryRealm([CollectionHolder.self, CollectionPart.self])
    try realm.write { realm.create(CollectionHolder.self).numbers.append(objectsIn: 0..<3000) }
    let holder = realm.objects(CollectionHolder.self)[0]
    for isCancelled in [true, false] {
      realm.beginWrite()
      holder.numbers.append(1)
      let expected = Array(holder.numbers)
      var seen: [Int] = []
      for number in holder.numbers {
        seen.append(number)
        guard seen.count == 1000 else { continue }
        holder.numbers.removeAll()
        if isCancelled { realm.cancelWrite() } else { try realm.commitWrite() }
      }
      #expect(seen == expected)
    }
    #expect(holder.numbers.isEmpty)
  }

  @Test func `objects that are deleted while a loop runs are invalid in the loop`() throws {
    let realm = try memoryRealm([CollectionHolder.self, CollectionPart.self])
    try realm.write {
      let holder = realm.create(CollectionHolder.self)
      for _ in 0..<2000 { holder.parts.append(CollectionPart()) }
    }
    let holder = realm.objects(CollectionHolder.self)[0]
    var kept: [CollectionPart] = []
    for part in holder.parts {
      if kept.isEmpty { try realm.write { holder.parts.remove(at: 1999) } }
      kept.append(part)
    }
    #expect(kept.count == 2000 && kept[1999].isInvalidated && !kept[1998].isInvalidated)
    kept = []
    realm.beginWrite()
    for _ in 0..<2000 { holder.parts.append(CollectionPart()) }
    for part in holder.parts {
      if kept.count == 10 { realm.cancelWrite() }
      kept.append(part)
    }
    try realm.write { for _ in 0..<2000 { holder.parts.append(CollectionPart()) } }
    #expect(kept.count == 3999)
    #expect(kept.enumerated().allSatisfy { $1.isInvalidated == ($0 >= 1999) })
  }

  @Test func `two copies of an iterator of a list do not disturb each other`() throws {
    let realm = try memoryRealm([CollectionHolder.self, CollectionPart.self])
    try realm.write { realm.create(CollectionHolder.self).numbers.append(objectsIn: 0..<3000) }
    var first = realm.objects(CollectionHolder.self)[0].numbers.makeIterator()
    for _ in 0..<700 { _ = first.next() }
    var second = first
    var numbers: [Int] = []
    while let number = first.next() { numbers.append(number) }
    #expect(numbers == Array(700..<3000))
    numbers = []
    while let number = second.next() { numbers.append(number) }
    #expect(numbers == Array(700..<3000))
  }

  @Test func `collections that were read keep no version in use`() throws {
    let file = TemporaryFile()
    var configuration = file.configuration
    configuration.objectTypes = [CollectionHolder.self, CollectionPart.self]
    configuration.maximumNumberOfActiveVersions = 2
    let realm = try Realm(configuration: configuration)
    try realm.write {
      let holder = realm.create(CollectionHolder.self)
      holder.numbers.append(objectsIn: 0..<5000)
      holder.texts.insert(objectsIn: (0..<2000).map { "text \($0)" })
      for number in 0..<2000 { holder.map["key \(number)"] = number }
    }
    var kept: [(List<Int>, MutableSet<String>, Map<String, Int>)] = []
    for number in 0..<6 {
      let holder = realm.objects(CollectionHolder.self)[0]
      kept.append((holder.numbers, holder.texts, holder.map))
      #expect(holder.numbers[number] == number && holder.numbers.count == 5000 + number)
      #expect(holder.texts.contains("text \(number)") && holder.map["key \(number)"] == number)
      try realm.write { holder.numbers.append(number) }
    }
    for (numbers, texts, map) in kept {
      #expect(numbers.count == 5006 && texts.count == 2000 && map.count == 2000)
    }
  }

  @Test(arguments: 0..<4)
  func `long collections behave as arrays, sets and dictionaries do`(seed: UInt64) throws {
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let realm = try memoryRealm([CollectionHolder.self, CollectionPart.self])
    var numbers = Array(0..<3000)
    var texts = Set((0..<1500).map { "text \($0)" })
    var map = Dictionary(uniqueKeysWithValues: (0..<1500).map { ("key \($0)", $0) })
    let holder = CollectionHolder()
    holder.numbers.append(objectsIn: numbers)
    holder.texts.insert(objectsIn: texts)
    for (key, value) in map { holder.map[key] = value }
    try realm.write { realm.add(holder) }
    for _ in 0..<6 {
      try realm.write {
        for _ in 0..<40 {
          let (place, value) = (
            Int.random(in: 0..<numbers.count, using: &generator), Int.random(in: 0..<3000, using: &generator)
          )
          switch Int.random(in: 0..<9, using: &generator) {
          case 0:
            numbers.insert(value, at: place)
            holder.numbers.insert(value, at: place)
          case 1:
            numbers.remove(at: place)
            holder.numbers.remove(at: place)
          case 2:
            numbers[place] = value
            holder.numbers[place] = value
          case 3:
            numbers.insert(numbers.removeLast(), at: place)
            holder.numbers.move(from: holder.numbers.count - 1, to: place)
          case 4:
            texts.insert("text \(value)")
            holder.texts.insert("text \(value)")
          case 5:
            texts.remove("text \(value)")
            holder.texts.remove("text \(value)")
          case 6:
            map["key \(value)"] = place
            holder.map["key \(value)"] = place
          case 7:
            map["key \(value)"] = nil
            holder.map["key \(value)"] = nil
          default:
            let offsets = IndexSet([place, place / 2, place / 3])
            let moved = offsets.map { numbers[$0] }
            let before = offsets.filter { $0 < place / 2 + 1 }.count
            for offset in offsets.reversed() { numbers.remove(at: offset) }
            numbers.insert(contentsOf: moved, at: place / 2 + 1 - before)
            holder.numbers.move(fromOffsets: offsets, toOffset: place / 2 + 1)
          }
          #expect(
            holder.numbers.count == numbers.count
              && holder.texts.contains("text \(value)") == texts.contains("text \(value)"))
          #expect(holder.map["key \(value)"] == map["key \(value)"])
        }
      }
      #expect(Array(holder.numbers) == numbers)
      #expect(Array(holder.texts) == texts.sorted())
      #expect(holder.map.asKeyValueSequence().map(\.0) == map.keys.sorted())
      #expect(holder.map.values == map.sorted { $0.key < $1.key }.map(\.value))
      #expect(holder.numbers.index(of: numbers[1000]) == numbers.firstIndex(of: numbers[1000]))
      #expect(holder.numbers.filter { $0 % 7 == 0 } == numbers.filter { $0 % 7 == 0 })
    }
    try realm.verify()
  }
}
