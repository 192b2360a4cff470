import Foundation
import RealmStorage
import RealmSwift
import RealmTestSupport
import Testing

// A class in two versions. Its only property has one type in the first version, and another type in the second.

private class Before<Content: _Persistable>: Object {
  @Persisted var id: Int
  @Persisted var value: Content
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class After<Content: _Persistable>: Object {
  @Persisted var id: Int
  @Persisted var value: Content
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A type with some values and their texts, by which values of different types are compared.
private struct Kind {
  let name: String
  /// Makes a file with the values of the type, and opens it with each other type.
  let file: (_ isOptional: Bool) throws -> TemporaryFile
  let count: Int
  /// Migrates a file to the type, and returns the values as texts. A value that is nil has no text.
  let migrated: (TemporaryFile, _ isOptional: Bool) throws -> [String?]
}

private func kind<Content: _Persistable>(
  _ name: String, _ values: [Content], _ text: @escaping (Content) -> String
) -> Kind where Content: _PersistableInsideOptional {
  func make<Stored: _Persistable>(_ values: [Stored]) throws -> TemporaryFile {
    let file = TemporaryFile()
    try autoreleasing {
      let realm = try opened(Realm.Configuration(fileURL: file.url, objectTypes: [Before<Stored>.self]))
      try realm.write {
        for (id, value) in values.enumerated() {
          let object = Before<Stored>()
          object.id = id
          object.value = value
          realm.add(object)
        }
      }
    }
    return file
  }
  func read<Stored: _Persistable>(_ file: TemporaryFile, _ text: (Stored) -> String?) throws -> [String?] {
    try autoreleasing {
      let realm = try opened(
        Realm.Configuration(fileURL: file.url, schemaVersion: 1, objectTypes: [After<Stored>.self]))
      try realm.verify()
      return realm.objects(After<Stored>.self).map { text($0.value) }
    }
  }
  return Kind(
    name: name,
    file: { isOptional in
      isOptional ? try make(values.map { Optional($0) } + [nil]) : try make(values)
    }, count: values.count,
    migrated: { file, isOptional in
      isOptional
        ? try read(file) { (value: Content?) in value.map(text) }
        : try read(file) { (value: Content) in text(value) }
    })
}

/// Tests of the value that a property has after its type changes. For each pair of types, values that convert without
/// loss are kept, and others become zero or nil.
@Suite struct ConversionOfColumnsTests {
  private static let id = ObjectId("0123456789abcdef01234567")
  private static let uuid = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")!

  private static var kinds: [Kind] {
    [
      kind("Bool", [true, false]) { $0 ? "true" : "false" },
      kind("Int", [0, 1, 7, Int.max]) { "\($0)" },
      kind("Float", [0, 1, 1.5] as [Float]) { "\($0)" },
      kind("Double", [0, 1, 1.5, 1e300]) { "\($0)" },
      kind("Decimal128", [0, 1, "1.5", "1E400"] as [Decimal128]) { $0.stringValue },
      kind(
        "String", ["", "1", "1.5", "true", "007", "text", id.stringValue, uuid.uuidString]
      ) { $0 },
      kind("Data", [Data(), Data("text".utf8), Data([0xff])]) { $0.map { "\($0)" }.joined(separator: " ") },
      kind("Date", [Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 5)]) {
        "\($0.timeIntervalSince1970)"
      },
      kind("ObjectId", [id]) { $0.stringValue },
      kind("UUID", [uuid]) { $0.uuidString },
    ]
  }

  /// The texts of the values in the new type, for each pair of types. A pair that is missing here does not convert, and
  /// "-" is a value that is lost.
  private static let kept: [String: [String]] = [
    "Bool Int": ["1", "0"], "Bool Float": ["1.0", "0.0"], "Bool Double": ["1.0", "0.0"],
    "Bool Decimal128": ["1", "0"], "Bool String": ["true", "false"],
    "Int Bool": ["false", "true", "-", "-"], "Int Float": ["0.0", "1.0", "7.0", "-"],
    "Int Double": ["0.0", "1.0", "7.0", "-"],
    "Int Decimal128": ["0", "1", "7", "9223372036854775807"],
    "Int String": ["0", "1", "7", "9223372036854775807"],
    "Float Bool": ["false", "true", "-"], "Float Int": ["0", "1", "-"],
    "Float Double": ["0.0", "1.0", "1.5"],
    "Float Decimal128": ["0", "1", "1.5"], "Float String": ["0.0", "1.0", "1.5"],
    "Double Bool": ["false", "true", "-", "-"], "Double Int": ["0", "1", "-", "-"],
    "Double Float": ["0.0", "1.0", "1.5", "-"], "Double Decimal128": ["0", "1", "1.5", "1E300"],
    "Double String": ["0.0", "1.0", "1.5", "1e+300"],
    "Decimal128 Bool": ["false", "true", "-", "-"], "Decimal128 Int": ["0", "1", "-", "-"],
    "Decimal128 Float": ["0.0", "1.0", "1.5", "-"], "Decimal128 Double": ["0.0", "1.0", "1.5", "-"],
    "Decimal128 String": ["0", "1", "1.5", "1E400"],
    "String Bool": ["-", "true", "-", "true", "-", "-", "-", "-"],
    "String Int": ["-", "1", "-", "-", "7", "-", "-", "-"],
    "String Float": ["-", "1.0", "1.5", "-", "7.0", "-", "-", "-"],
    "String Double": ["-", "1.0", "1.5", "-", "7.0", "-", "-", "-"],
    "String Decimal128": ["-", "1", "1.5", "-", "7", "-", "-", "-"],
    "String Data": ["", "49", "49 46 53", "116 114 117 101", "48 48 55", "116 101 120 116"]
      + [id.stringValue, uuid.uuidString].map { $0.utf8.map { "\($0)" }.joined(separator: " ") },
    "String ObjectId": ["-", "-", "-", "-", "-", "-", id.stringValue, "-"],
    "String UUID": ["-", "-", "-", "-", "-", "-", "-", uuid.uuidString],
    "Data String": ["", "text", "-"], "ObjectId String": [id.stringValue], "UUID String": [uuid.uuidString],
  ]

  private static let zeros = [
    "Bool": "false", "Int": "0", "Float": "0.0", "Double": "0.0", "Decimal128": "0", "String": "", "Data": "",
    "Date": "0.0", "ObjectId": "000000000000000000000000", "UUID": "00000000-0000-0000-0000-000000000000",
  ]

  @Test(arguments: 0..<10)
  func `values that convert without loss to another type stay, and others become zero or nil`(
    _ index: Int
  ) throws {
    let old = Self.kinds[index]
    for new in Self.kinds where new.name != old.name {
      let expected = Self.kept["\(old.name) \(new.name)"] ?? Array(repeating: "-", count: old.count)
      for (wasOptional, isOptional) in [(false, false), (false, true), (true, false), (true, true)] {
        let file = try old.file(wasOptional)
        let found = try new.migrated(file, isOptional)
        let lost = isOptional ? nil : Self.zeros[new.name]
        let wanted = (expected + (wasOptional ? ["-"] : [])).map { $0 == "-" ? lost : $0 }
        #expect(
          found == wanted,
          "\(old.name)\(wasOptional ? "?" : "") to \(new.name)\(isOptional ? "?" : "")")
      }
    }
  }

  @Test func `a value becomes a collection and back, and collections become other collections`() throws {
    try check([3, 4], List<Int>.self, { $0.append(3) }, { Array($0) == [3] })
    let lists: (List<Int>) -> Void = { $0.append(objectsIn: [2, 1, 2]) }
    try migrate(List<Int>.self, to: MutableSet<Int>.self, lists) { Set($0) == [1, 2] }
    try migrate(List<Int>.self, to: List<String?>.self, lists) { Array($0) == ["2", "1", "2"] }
    try migrate(List<Int>.self, to: List<Bool?>.self, lists) { Array($0) == [nil, true, nil] }
    try migrate(List<Int>.self, to: List<Bool>.self, lists) { Array($0) == [false, true, false] }
    try migrate(List<Int?>.self, to: List<Int>.self, { $0.append(objectsIn: [5, nil]) }) {
      Array($0) == [5, 0]
    }
    try migrate(List<Int>.self, to: List<Int?>.self, lists) { Array($0) == [2, 1, 2] }
    try migrate(List<Int>.self, to: AnyRealmValue.self, lists) { $0 == AnyRealmValue.none }
    try migrate(List<Int>.self, to: List<AnyRealmValue>.self, lists) {
      Array($0) == [.int(2), .int(1), .int(2)]
    }
    try migrate(MutableSet<Int>.self, to: List<Int>.self, { $0.insert(objectsIn: [2, 1]) }) {
      Array($0) == [1, 2]
    }
    try migrate(
      MutableSet<String>.self, to: MutableSet<Int>.self, { $0.insert(objectsIn: ["1", "01", "x"]) }
    ) {
      Set($0) == [0, 1]
    }
    try migrate(Map<String, Int>.self, to: Map<String, String?>.self, { $0["a"] = 1 }) { $0["a"] == "1" }
    try migrate(Map<String, Int>.self, to: List<Int>.self, { $0["a"] = 1 }) { $0.isEmpty }
    try migrate(List<Int>.self, to: Map<String, Int>.self, lists) { $0.count == 0 }
    try migrate(List<Int>.self, to: Int?.self, { $0.append(9) }) { $0 == 9 }
    try migrate(List<Int>.self, to: Int?.self, lists) { $0 == nil }
    try migrate(List<Int>.self, to: String.self, { $0.append(9) }) { $0 == "9" }
  }

  /// Checks the conversion of a value to a collection with that value.
  private func check<Content: _Persistable>(
    _ values: [Int], _ type: Content.Type, _ unused: (Content) -> Void, _ fits: @escaping (List<Int>) -> Bool
  ) throws {
    let file = TemporaryFile()
    try autoreleasing {
      let realm = try opened(Realm.Configuration(fileURL: file.url, objectTypes: [Before<Int>.self]))
      try realm.write { realm.create(Before<Int>.self, value: ["value": 3]) }
    }
    try autoreleasing {
      let realm = try opened(
        Realm.Configuration(fileURL: file.url, schemaVersion: 1, objectTypes: [After<List<Int>>.self]))
      let value = try #require(realm.objects(After<List<Int>>.self).first?.value)
      #expect(fits(value))
      try realm.verify()
    }
  }

  private func migrate<Old: _Persistable, New: _Persistable>(
    _ old: Old.Type, to new: New.Type, _ fill: (Old) -> Void, _ fits: (New) -> Bool
  ) throws {
    let file = TemporaryFile()
    try autoreleasing {
      let realm = try opened(Realm.Configuration(fileURL: file.url, objectTypes: [Before<Old>.self]))
      try realm.write {
        let object = Before<Old>()
        realm.add(object)
        fill(object.value)
      }
    }
    try autoreleasing {
      let realm = try opened(
        Realm.Configuration(fileURL: file.url, schemaVersion: 1, objectTypes: [After<New>.self]))
      let value = try #require(realm.objects(After<New>.self).first).value
      #expect(fits(value), "\(Old.self) to \(New.self): \(value)")
      try realm.verify()
    }
  }
}
