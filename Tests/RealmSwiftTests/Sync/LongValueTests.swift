import Foundation
import RealmStorage
import Testing

@testable import RealmSwift

private class Letter: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
  @Persisted var lines: List<String>
  @Persisted var notes: Map<String, String>
  @Persisted var names: MutableSet<String>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Values that are too long to be synced.
@Suite struct LongValueTests {
  private static let long = String(repeating: "a", count: 15 << 20)

  enum Change: CaseIterable, Sendable {
    case set, append, insertIntoSet, setKey, create

    fileprivate func make(_ letter: Letter, _ realm: Realm) {
      switch self {
      case .set: letter.text = LongValueTests.long
      case .append: letter.lines.append(LongValueTests.long)
      case .insertIntoSet: letter.names.insert(LongValueTests.long)
      case .setKey: letter.notes["a"] = LongValueTests.long
      case .create: realm.create(Letter.self, value: ["id": 2, "text": LongValueTests.long] as [String: Any])
      }
    }
  }

  @Test(arguments: Change.allCases)
  func `a write with a value of more than 15 MiB throws, and the next write succeeds`(change: Change) throws {
    let file = TemporaryFile()
    var configuration = file.configuration
    configuration.syncing = SyncOfNobody()
    configuration.objectTypes = [Letter.self]
    let realm = try Realm(configuration: configuration)
    let letter = try realm.write { realm.create(Letter.self, value: ["id": 1, "text": "short"]) }
    let error = #expect(throws: Realm.Error.self) {
      try realm.write {
        change.make(letter, realm)
        letter.lines.append("never")
      }
    }
    #expect(error?.localizedDescription.contains("a value of Letter.") == true)
    #expect(!realm.isInWriteTransaction)
    #expect(letter.text == "short" && letter.lines.isEmpty && realm.objects(Letter.self).count == 1)
    try realm.write { letter.text = "another" }
    #expect(letter.text == "another")
  }
}
