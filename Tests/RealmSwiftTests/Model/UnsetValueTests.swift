import RealmStorage
import Testing

@testable import RealmSwift

private enum UnsetMood: String, PersistableEnum { case calm, merry }
private enum UnsetGrade: Int, PersistableEnum { case low = 1, high = 2 }
private struct Half: FailableCustomPersistable, Hashable {
  var value: Int
  init?(persistedValue: Int) {
    guard persistedValue > 0 else { return nil }
    value = persistedValue
  }
  var persistableValue: Int { value }
}

private class Feeling: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var mood = UnsetMood.merry
  @Persisted var grade: UnsetGrade
  @Persisted var half = Half(persistedValue: 7)!
  @Persisted var name: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Required properties of a synced file that were never set. Their types have no value for null or zero.
@Suite struct UnsetValueTests {
  private static let properties = ["mood", "grade", "half"]

  private func realm(_ file: TemporaryFile) throws -> Realm {
    var configuration = file.configuration
    configuration.syncing = SyncOfNobody()
    configuration.objectTypes = [Feeling.self]
    let realm = try Realm(configuration: configuration)
    try realm.write {
      realm.create(Feeling.self, value: ["id": 1, "mood": UnsetMood.calm, "grade": UnsetGrade.high])
    }
    try realm.session.file.database.write { transaction in
      let table = try #require(try transaction.table("Feeling"))
      // This object comes from a version of the app without the properties.
      _ = try table.insert([
        "id": .int(2), "mood": .string(""), "grade": .int(0), "half": .int(0), "name": .string(""),
      ])
      // This object comes from a version of the app in which the properties are optional.
      for name in Self.properties {
        let position = try #require(table.schema.columns.firstIndex { $0.name == name })
        try table.setOptional(true, ofColumn: position)
      }
      _ = try table.insert([
        "id": .int(3), "mood": .null, "grade": .null, "half": .null, "name": .string(""),
      ])
      // This object comes from a version of the app with other cases.
      _ = try table.insert([
        "id": .int(4), "mood": .string("sad"), "grade": .int(9), "half": .int(-1), "name": .string(""),
      ])
    }
    realm.refresh()
    return realm
  }

  @Test func `a property that was never set has the default of its class`() throws {
    let file = TemporaryFile()
    let realm = try realm(file)
    let objects = realm.objects(Feeling.self)
    #expect(objects.count == 4)
    for id in 2...3 {
      let object = try #require(realm.object(ofType: Feeling.self, forPrimaryKey: id))
      #expect(object.mood == .merry && object.grade == .low && object.half.value == 7)
      // A value that is set is kept.
      try realm.write { (object.mood, object.grade) = (.calm, .high) }
      #expect(object.mood == .calm && object.grade == .high)
    }
    let first = try #require(realm.object(ofType: Feeling.self, forPrimaryKey: 1))
    #expect(first.mood == .calm && first.grade == .high && first.half.value == 7)
  }

  @Test func `a value that was set and does not fit the type still stops the program`() {
    MisuseTests().expectStop(["Unreadable value", "Feeling.mood", "'sad'"]) {
      let file = TemporaryFile()
      _ = try UnsetValueTests().realm(file).object(ofType: Feeling.self, forPrimaryKey: 4)?.mood
    }
  }
}
