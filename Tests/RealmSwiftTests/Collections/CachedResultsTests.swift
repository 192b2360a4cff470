import Foundation
import RealmTestSupport
import Testing

@testable import RealmSwift

private class Row: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var kind: String
  @Persisted var count: Int
  @Persisted var note: String?
  @Persisted var any: AnyRealmValue
  @Persisted var next: Row?
  @Persisted var parts: List<Int>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Results keep the rows that they found until a change that concerns them.
@Suite struct CachedResultsTests {
  private let realm: Realm
  private var rows: Results<Row> { realm.objects(Row.self) }

  init() throws {
    realm = try memoryRealm([Row.self])
    try realm.write {
      for id in 0..<50 {
        _ = realm.create(
          Row.self, value: ["id": id, "kind": "kind \(id % 3)", "count": id % 7] as [String: Any])
      }
    }
  }

  /// The address of the found rows in memory. A new search puts the rows at another address.
  private func place<T>(_ results: Results<T>) -> UnsafePointer<UInt64>? {
    results.content.rows().withUnsafeBufferPointer { $0.baseAddress }
  }

  @Test func `results do not search again if other properties change`() throws {
    let some = rows.where { $0.kind == "kind 1" }.sorted(by: \.id, ascending: false)
    try realm.write {
      let before = place(some)
      for index in 0..<some.count {
        some[index].count += 1
        some[index].note = "changed"
        #expect(place(some) == before)
      }
      some[0].kind = "another"
      #expect(some.count == 16 && !some.contains { $0.kind != "kind 1" })
    }
    #expect(some.allSatisfy { $0.note == "changed" })
  }

  /// The test makes random changes in a transaction, and compares the results with a new search.
  @Test(arguments: 0..<8) func `results show the objects that a new search finds, whatever changes`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let all: [(String, () -> Results<Row>)] = [
      ("all", { rows }), ("kind", { rows.where { $0.kind == "kind 1" } }),
      ("sorted", { rows.where { $0.count > 2 }.sorted(by: \.count) }),
      ("distinct", { rows.sorted(by: \.id).distinct(by: ["kind"]) }),
      ("next", { rows.where { $0.next.count > 3 } }), ("any", { rows.where { $0.any == .int(3) } }),
      ("parts", { rows.where { $0.parts.count > 1 } }), ("note", { rows.where { $0.note == nil } }),
      ("by link", { rows.sorted(byKeyPath: "next.kind") }),
    ]
    let kept = all.map { $0.1() }
    realm.beginWrite()
    for round in 0..<150 {
      change(&generator)
      let place = generator.below(all.count)
      let (found, expected) = (kept[place], all[place].1())
      let context = "seed \(seed), round \(round), \(all[place].0)"
      switch generator.below(4) {
      case 0: #expect(found.count == expected.count, "\(context)")
      case 1: #expect(found.first?.id == expected.first?.id, "\(context)")
      case 2: #expect(found.isEmpty == expected.isEmpty, "\(context)")
      default: #expect(found.map(\.id) == expected.map(\.id), "\(context)")
      }
      if generator.chance(4) {
        if generator.chance(30) { realm.cancelWrite() } else { try realm.commitWrite() }
        #expect(found.map(\.id) == all[place].1().map(\.id), "\(context), outside")
        realm.beginWrite()
      }
    }
    realm.cancelWrite()
  }

  private func change(_ generator: inout SeededGenerator) {
    guard let row = rows.randomElement(using: &generator) else { return }
    switch generator.below(12) {
    case 0: row.kind = "kind \(generator.below(3))"
    case 1, 2: row.count = generator.below(7)
    case 3: row.note = generator.chance(50) ? nil : "note"
    case 4: row.any = generator.chance(50) ? .int(3) : .object(row)
    case 5: row.next = rows.randomElement(using: &generator)
    case 6: row.parts.append(generator.below(5))
    case 7: row.parts.removeAll()
    case 8: realm.delete(row)
    case 9: realm.create(Row.self, value: ["id": generator.below(60), "count": 3], update: .modified)
    case 10: row.setValue("by name")
    default: row.count += 1
    }
  }
}

extension Row {
  fileprivate func setValue(_ text: String) { note = text }
}
