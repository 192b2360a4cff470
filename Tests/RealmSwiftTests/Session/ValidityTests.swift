import Foundation
import RealmSwift
import Testing

/// Tests of which objects may still be used after transactions were cancelled and their row numbers were given again.
@Suite struct ValidityTests {
  final class Coin: Object {
    @Persisted var value: Int
    @Persisted var marks: List<Int>
    @Persisted var next: Coin?
  }

  private func realm(_ function: String = #function) throws -> Realm {
    try Realm(configuration: .init(inMemoryIdentifier: "validity \(function)", objectTypes: [Coin.self]))
  }

  @Test func `an object of a cancelled transaction stays invalid when its row's number is given again`()
    throws
  {
    let realm = try realm()
    var cancelled: [Coin] = []
    var lists: [List<Int>] = []
    for round in 0..<20 {
      realm.beginWrite()
      let lost = realm.create(Coin.self, value: ["value": -1, "marks": [1]])
      cancelled.append(lost)
      lists.append(lost.marks)
      // This is a second handle of the object.
      cancelled.append(try #require(realm.objects(Coin.self).last))
      realm.cancelWrite()
      // Rows that stay are made after some of the rounds, and none after others.
      if round % 3 == 0 { try realm.write { realm.create(Coin.self, value: ["value": round]) } }
      for coin in cancelled { #expect(coin.isInvalidated) }
      for list in lists { #expect(list.isInvalidated) }
      for coin in realm.objects(Coin.self) {
        #expect(!coin.isInvalidated)
        #expect(coin.value >= 0)
        #expect(!cancelled.contains { $0.isSameObject(as: coin) })
      }
    }
    #expect(realm.objects(Coin.self).count == 7)
  }

  @Test func `an object of a committed transaction is valid, beside those of cancelled ones`() throws {
    let realm = try realm()
    var kept: [Coin] = []
    for round in 0..<10 {
      try realm.write { kept.append(realm.create(Coin.self, value: ["value": round])) }
      realm.beginWrite()
      realm.create(Coin.self, value: ["value": -1])
      kept[round].value += 100
      realm.cancelWrite()
    }
    #expect(kept.map(\.value) == Array(0..<10))
    #expect(kept.allSatisfy { !$0.isInvalidated })
    // The objects can be linked to and deleted.
    try realm.write {
      kept[0].next = kept[9]
      realm.delete(kept[5])
    }
    #expect(kept[0].next?.value == 9)
    #expect(kept[5].isInvalidated)
  }

  @Test func `invalidating a realm ends its objects and results, but not those that are found later`() throws
  {
    let realm = try realm()
    try realm.write { realm.create(Coin.self, value: ["value": 1]) }
    let (coins, coin) = (realm.objects(Coin.self), try #require(realm.objects(Coin.self).first))
    realm.invalidate()
    #expect(coins.isInvalidated)
    #expect(coins.count == 0)
    #expect(coin.isInvalidated)
    let found = try #require(realm.objects(Coin.self).first)
    #expect(found.value == 1)
    #expect(!found.isInvalidated)
    realm.invalidate()
    #expect(found.isInvalidated)
    #expect(realm.objects(Coin.self).count == 1)
  }
}
