import Foundation
import RealmSwift
import Testing

private class Count1: Object {
  @Persisted var count: Int
  override class func _realmObjectName() -> String? { "Count" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Count2: Object {
  @Persisted var count: Even
  override class func _realmObjectName() -> String? { "Count" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private enum LevelByText: String, PersistableEnum { case low = "0", high = "2" }
private struct Even: FailableCustomPersistable, Equatable {
  let number: Int
  init?(persistedValue: Int) {
    guard persistedValue % 2 == 0, persistedValue > 0 else { return nil }
    number = persistedValue
  }
  var persistableValue: Int { number }
}
private class Grade1: Object {
  @Persisted var level: Int
  @Persisted var small: String
  @Persisted var old: Int
  override class func _realmObjectName() -> String? { "Grade" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Grade2: Object {
  @Persisted var level = LevelByText.low
  @Persisted var small: Int8?
  @Persisted var even: Even
  override class func _realmObjectName() -> String? { "Grade" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Mixed1: Object {
  @Persisted var values: List<AnyRealmValue>
  override class func _realmObjectName() -> String? { "Mixed" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Mixed2: Object {
  @Persisted var values: MutableSet<AnyRealmValue>
  override class func _realmObjectName() -> String? { "Mixed" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Migrations of properties that get another type.
@Suite struct MigrationTypesTests: MigrationFileTests {
  @Test func `a stored value that a class can't read does not prevent the addition of another class`() throws
  {
    let file = TemporaryFile()
    try open(file, [Count1.self]) { realm in try realm.write { _ = realm.create(Count1.self) } }
    // The program has another type, but the file has the same.
    try open(file, [Count2.self]) { #expect($0.objects(Count2.self).count == 1) }
    try open(file, [Count2.self, Kept.self]) { #expect($0.objects(Kept.self).isEmpty) }
    var configuration = configuration(file, [Count2.self, Kept.self, Base.self])
    configuration.deleteRealmIfMigrationNeeded = true
    let count = try autoreleasing { try opened(configuration).objects(Count2.self).count }
    #expect(count == 1)
  }

  @Test func `a stored value that a class can't read becomes the default, or is set by the block`() throws {
    let file = TemporaryFile()
    try open(file, [Grade1.self]) { realm in
      try realm.write {
        for number in [0, 2, 300] {
          realm.create(Grade1.self, value: [number, "\(number)", number] as [Any])
        }
      }
    }
    let error = #expect(throws: Realm.Error.self) { try open(file, [Grade2.self], version: 1) { _ in } }
    #expect(error?.localizedDescription.contains("property Grade.even has no value") == true)
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Grade") { _, new in new?["even"] = 4 }
    }
    try open(file, [Grade2.self], version: 1, block: block) { realm in
      let grades = realm.objects(Grade2.self)
      #expect(grades.map(\.level) == [.low, .high, .low] && grades.map(\.small) == [0, 2, nil])
      #expect(grades.allSatisfy { $0.even.number == 4 })
    }
  }

  @Test func `a list of lists becomes a set without the lists`() throws {
    let file = TemporaryFile()
    try open(file, [Mixed1.self]) { realm in
      try realm.write {
        _ = realm.create(Mixed1.self, value: ["values": [1, [2, 3], 1, "x"] as [Any]])
      }
    }
    try open(file, [Mixed2.self], version: 1) { realm in
      #expect(realm.objects(Mixed2.self).first.map { Set($0.values) } == [.int(1), .string("x")])
      try realm.verify()
    }
  }
}
