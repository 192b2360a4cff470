import Foundation
import RealmSwift

// listing: all types
class Sample: Object {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var flag: Bool
  @Persisted var small: Int8
  @Persisted var number: Int
  @Persisted var ratio: Float
  @Persisted var exact: Decimal128
  @Persisted var text: String
  @Persisted var bytes: Data
  @Persisted var time: Date
  @Persisted var token: UUID
  @Persisted var anything: AnyRealmValue
  @Persisted var maybe: Int?
}
// end

private func open() throws -> Realm {
  try Realm(
    configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Sample.self]))
}

extension Listings {
  static let values: [String: Listing] = [
    "defaults": { print in
      // listing: defaults
      let sample = Sample()
      print(sample.flag, sample.number, sample.text.isEmpty, sample.maybe == nil, sample.anything)
      print(sample.id != Sample().id, sample.token != Sample().token)
      // end
    },
    "decimals": { print in
      let realm = try open()
      // listing: decimals
      try realm.write {
        realm.create(Sample.self, value: ["exact": Decimal128("0.10")])
        realm.create(Sample.self, value: ["exact": Decimal128("0.20")])
      }
      let total: Decimal128 = realm.objects(Sample.self).sum(of: \.exact)
      print(total, total == "0.3", 0.1 + 0.2 == 0.3)
      // end
    },
    "ids": { print in
      // listing: ids
      let id = ObjectId.generate()
      let same = try ObjectId(string: id.stringValue)
      print(id == same, ObjectId.generate() > id)
      // end
    },
    "anything": { print in
      let realm = try open()
      // listing: anything
      try realm.write {
        let sample = realm.create(Sample.self)
        sample.anything = .fromDictionary([
          "unit": .string("m"), "values": .fromArray([.int(1), .double(2.5)]),
        ])
        sample.anything.dictionaryValue?["values"]?.listValue?.append(.none)
      }
      let sample = realm.objects(Sample.self)[0]
      print(
        sample.anything.dictionaryValue?["values"]?.listValue?.count ?? 0,
        sample.anything.stringValue ?? "no text")
      // end
    },
    "by name": { print in
      // listing: by name
      let sample = Sample()
      sample["number"] = 5
      sample["text"] = "five"
      sample["anything"] = ["unit": "m", "values": [1, 2.5]] as [String: Any]
      print(sample["number"] ?? "nil", sample["text"] ?? "nil", sample["maybe"] ?? "nil")
      // end
    },
  ]
}
