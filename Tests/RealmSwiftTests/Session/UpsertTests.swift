import Foundation
import RealmSwift
import RealmTestSupport
import Testing

class Part: EmbeddedObject, Codable {
  @Persisted var street = ""
}
class Friend: Object, Codable {
  @Persisted(primaryKey: true) var id: Int
}
class Upserted: Object, Codable {
  @Persisted(primaryKey: true) var key: Int
  @Persisted var number: Int?
  @Persisted var text = "default"
  @Persisted var list: List<Int>
  @Persisted var friend: Friend?
  @Persisted var part: Part?
}

/// The result of `add` and `create` for every combination of existing object, update policy and given values.
@Suite struct UpsertTests {
  /// The form in which the values are given.
  enum Source: CaseIterable { case object, dictionary, json }
  /// The given value of each property: nil if none is given, and a nested optional if the value may be nil.
  struct Given {
    var number: Int??
    var text: String?
    var list: [Int]?
    var friend: Int??
    var street: String??

    static let all: [Given] = [nil, .some(nil), .some(5)].flatMap { number in
      [nil, "new"].flatMap { text in
        [nil, [], [9, 8]].flatMap { list in
          [nil, .some(nil), .some(2)].flatMap { friend in
            [nil, .some(nil), .some("new")].map { street in
              Given(number: number, text: text, list: list, friend: friend, street: street)
            }
          }
        }
      }
    }

    var values: [String: Any] {
      var values: [String: Any] = ["key": 1]
      if let number { values["number"] = number ?? NSNull() as Any }
      if let text { values["text"] = text }
      if let list { values["list"] = list }
      if let friend { values["friend"] = friend.map { ["id": $0] } ?? NSNull() as Any }
      if let street { values["part"] = street.map { ["street": $0] } ?? NSNull() as Any }
      return values
    }
  }

  /// The content of an object, for comparisons.
  struct Content: Equatable {
    var number: Int?
    var text = "default"
    var list: [Int] = []
    var friend: Int?
    var street: String?
  }

  private func content(_ object: Upserted) -> Content {
    Content(
      number: object.number, text: object.text, list: Array(object.list), friend: object.friend?.id,
      street: object.part?.street)
  }

  /// The given values, with the values of `rest` for the properties that are not given.
  private func expected(_ given: Given, over rest: Content) -> Content {
    Content(
      number: given.number ?? rest.number, text: given.text ?? rest.text, list: given.list ?? rest.list,
      friend: given.friend ?? rest.friend, street: given.street ?? rest.street)
  }

  private func write(_ given: Given, _ source: Source, _ policy: Realm.UpdatePolicy, _ realm: Realm) throws {
    switch source {
    case .dictionary: realm.create(Upserted.self, value: given.values, update: policy)
    case .object: realm.add(Upserted(value: given.values), update: policy)
    case .json:
      let json = try JSONSerialization.data(withJSONObject: given.values)
      realm.add(try JSONDecoder().decode(Upserted.self, from: json), update: policy)
    }
  }

  @Test(arguments: Source.allCases) func `an object gets its given values by its policy, in every case`(
    source: Source
  ) throws {
    let old = Content(number: 1, text: "old", list: [1, 2], friend: 1, street: "old")
    let realm = try memoryRealm([Upserted.self, Part.self, Friend.self])
    var cells = 0
    for given in Given.all {
      // To decode a value that is not optional, its key must be there.
      if source == .json, given.text == nil || given.list == nil { continue }
      for policy in [Realm.UpdatePolicy.error, .modified, .all] {
        for isThere in policy == .error ? [false] : [false, true] {
          cells += 1
          realm.beginWrite()
          defer { realm.cancelWrite() }
          realm.create(Friend.self, value: [1])
          realm.create(Friend.self, value: [2])
          var part: Part?
          if isThere {
            part =
              realm.create(
                Upserted.self,
                value: [
                  "key": 1, "number": 1, "text": "old", "list": [1, 2],
                  "friend": realm.objects(Friend.self)[0],
                  "part": ["street": "old"],
                ] as [String: Any]
              ).part
          }
          // The given friend already exists. Without a policy this is another error.
          if policy == .error, given.friend != nil, given.friend != .some(nil) { continue }
          try write(given, source, policy, realm)
          let rest = isThere && source == .dictionary ? old : Content()
          let found = try #require(realm.object(ofType: Upserted.self, forPrimaryKey: 1))
          #expect(content(found) == expected(given, over: rest), "\(source) \(policy) \(isThere) \(given)")
          #expect(realm.objects(Upserted.self).count == 1 && realm.objects(Friend.self).count == 2)
          guard let part else { continue }
          // A given embedded object either changes the existing one or replaces it.
          let isKept =
            source == .dictionary && given.street == nil
            || policy == .modified && (given.street ?? nil) != nil
          #expect(part.isInvalidated != isKept, "\(source) \(policy) \(given)")
        }
      }
    }
    #expect(cells > 100)
  }
}
