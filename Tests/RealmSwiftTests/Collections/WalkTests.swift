import Foundation
import RealmSwift
import Testing

/// Loops over collections. A loop hands out one object again and again if the program does not keep it.
@Suite struct WalkTests {
  final class Step: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var next: Step?
  }

  final class Noted: Object {
    @Persisted var id: Int
    var note = ""
  }

  final class Listed: Object {
    @Persisted var id: Int
    @Persisted var numbers: List<Int>
  }

  private func realm(_ count: Int, _ function: String = #function) throws -> Realm {
    let realm = try Realm(
      configuration: .init(
        inMemoryIdentifier: "walk \(function)", objectTypes: [Step.self, Noted.self, Listed.self]))
    try realm.write {
      for id in 0..<count {
        realm.create(Step.self, value: ["id": id, "name": "step \(id)"])
        realm.create(Noted.self, value: ["id": id])
        realm.create(Listed.self, value: ["id": id, "numbers": [id]])
      }
    }
    return realm
  }

  @Test func `the first of sorted objects is the first of all of them in order`() throws {
    let realm = try realm(3_000)
    try realm.write { for step in realm.objects(Step.self) { step.name = "\(step.id * 7_919 % 1_000)" } }
    for least in [0, 1_500, 2_990, 3_000] {
      for isAscending in [true, false] {
        func steps() -> Results<Step> {
          realm.objects(Step.self).where { $0.id >= least }.sorted(byKeyPath: "name", ascending: isAscending)
        }
        #expect(steps().first?.id == Array(steps()).first?.id)
        #expect((steps().first == nil) == (least == 3_000))
        // The result is the same in a transaction, after a change.
        realm.beginWrite()
        steps().first?.name = "5000"
        #expect(steps().first?.id == Array(steps()).first?.id)
        realm.cancelWrite()
      }
    }
    #expect(realm.objects(Step.self).first?.id == 0)
    #expect(realm.objects(Step.self).where { $0.id > 5 }.first?.id == 6)
  }

  @Test func `a loop reads each object`() throws {
    let realm = try realm(2_000)
    var ids: [Int] = []
    for step in realm.objects(Step.self) {
      #expect(step.name == "step \(step.id)")
      ids.append(step.id)
    }
    #expect(ids == Array(0..<2_000))
    #expect(realm.objects(Step.self).where { $0.id > 1_500 }.map { $0.id } == Array(1_501..<2_000))
  }

  @Test func `an object of a loop that the program keeps stays the same`() throws {
    let realm = try realm(1_000)
    var kept: [Step] = []
    for step in realm.objects(Step.self) where step.id % 3 == 0 { kept.append(step) }
    #expect(kept.map { $0.id } == Array(stride(from: 0, to: 1_000, by: 3)))
    #expect(Array(realm.objects(Step.self)).map { $0.name } == (0..<1_000).map { "step \($0)" })
    var captured: [() -> Int] = []
    for step in realm.objects(Step.self) { captured.append { step.id } }
    #expect(captured.map { $0() } == Array(0..<1_000))
  }

  @Test func `an object that is kept only by a weak reference does not become another one`() throws {
    let realm = try realm(100)
    struct Weak { weak var step: Step? }
    var references: [(id: Int, weak: Weak)] = []
    for step in realm.objects(Step.self) { references.append((step.id, Weak(step: step))) }
    for reference in references {
      if let step = reference.weak.step { #expect(step.id == reference.id) }
    }
  }

  @Test func `two copies of an iterator do not disturb each other`() throws {
    let realm = try realm(10)
    var first = realm.objects(Step.self).makeIterator()
    let before = first.next()
    var second = first
    let (one, two) = (first.next(), second.next())
    #expect(before?.id == 0)
    #expect(one?.id == 1)
    #expect(two?.id == 1)
    #expect(first.next()?.id == 2)
    #expect(two?.id == 1)
  }

  @Test func `objects with properties of their own, or with lists, are new in each turn of a loop`() throws {
    let realm = try realm(50)
    for noted in realm.objects(Noted.self) {
      #expect(noted.note == "")
      noted.note = "seen \(noted.id)"
    }
    for listed in realm.objects(Listed.self) { #expect(Array(listed.numbers) == [listed.id]) }
    let lists = realm.objects(Listed.self).map { $0.numbers }
    for (id, list) in Array(lists).enumerated() { #expect(list.first == id) }
  }

  @Test func `objects of the open transaction and earlier objects are told apart in a loop`() throws {
    let realm = try realm(10)
    realm.beginWrite()
    for id in 10..<20 { realm.create(Step.self, value: ["id": id, "name": "step \(id)"]) }
    var kept: [Step] = []
    for step in realm.objects(Step.self) {
      #expect(step.name == "step \(step.id)")
      if step.id == 5 || step.id == 15 { kept.append(step) }
    }
    var iterator = realm.objects(Step.self).makeIterator()
    var last: Step?
    while let step = iterator.next() { last = step }
    realm.cancelWrite()
    #expect(!kept[0].isInvalidated)
    #expect(kept[1].isInvalidated)
    #expect(last?.isInvalidated == true)
  }

  @Test func `a loop continues while its objects are deleted`() throws {
    let realm = try realm(100)
    try realm.write {
      for step in realm.objects(Step.self) where step.id % 2 == 0 { realm.delete(step) }
    }
    #expect(realm.objects(Step.self).map { $0.id } == Array(stride(from: 1, to: 100, by: 2)))
  }
}
