import Foundation
import RealmSwift
import Testing

/// Synced realms that are opened read-only.
@Suite(.timeLimit(.minutes(3))) @MainActor struct ReadOnlyTests {
  /// The configuration of a read-only file with all notes of a user.
  private static func notes(_ user: User) -> Realm.Configuration {
    var configuration = user.notes()
    configuration.readOnly = true
    return configuration
  }

  @Test func `changes of the server come to a read-only realm, and are observed`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...2)
      let realm = try await opened(Self.notes(users[1]), .once)
      #expect(realm.noteIDs == [1, 2] && realm.configuration.readOnly)
      let counts = Calls<Int>()
      let token = realm.objects(Note.self).observe { change in
        switch change {
        case .initial(let notes), .update(let notes, _, _, _): counts.add(notes.count)
        case .error: break
        }
      }
      try await users[0].uploadNotes(3...3)
      try await eventually { counts.all.last == 3 }
      #expect(realm.noteIDs == [1, 2, 3])
      token.invalidate()
    }
  }

  @Test func `a read-only realm opens before its server was reached, and has no objects then`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...1)
      await world.stop()
      let realm = try opened(Self.notes(users[1]))
      let notes = realm.objects(Note.self)
      #expect(notes.isEmpty && realm.note(1) == nil)
      try await world.restart()
      try realm.sync().reconnect()
      try await eventually(in: realm) { notes.count == 1 }
    }
  }

  @Test func `the subscriptions of a read-only realm can be changed`() async throws {
    try await withTrails { _, user, _ in
      var configuration = user.trails()
      configuration.readOnly = true
      let realm = try opened(configuration)
      try await realm.ask { $0.append(QuerySubscription<Trail>(name: "alps") { $0.region == "Alps" }) }
      #expect(realm.trailIDs == [1, 2])
      try await realm.ask { $0.remove(named: "alps") }
      try await eventually(in: realm) { realm.trailIDs.isEmpty }
    }
  }

  @Test func `a property that the file lacks is a mismatch, and the file stays unchanged`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let user = try await world.user()
      func configuration(_ type: Object.Type, readOnly: Bool) -> Realm.Configuration {
        var configuration = user.configuration(partitionValue: "north")
        configuration.objectTypes = [type]
        configuration.readOnly = readOnly
        return configuration
      }
      do {
        let realm = try opened(configuration(ShortPage.self, readOnly: false))
        try realm.write { realm.create(ShortPage.self, value: ["id": 1]) }
        try await realm.upload()
      }
      try await eventually { user.allSessions.isEmpty }
      let error = #expect(throws: Realm.Error.self) {
        _ = try opened(configuration(LongPage.self, readOnly: true))
      }
      #expect(error?.code == .schemaMismatch && error?.localizedDescription.contains("Page.text") == true)
      let realm = try opened(configuration(ShortPage.self, readOnly: true))
      #expect(realm.objects(ShortPage.self).count == 1)
      #expect(throws: Realm.Error.self) { _ = try opened(configuration(ShortPage.self, readOnly: false)) }
    }
  }
}

private class ShortPage: Object {
  override class func _realmObjectName() -> String? { "Page" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  @Persisted(primaryKey: true) var id: Int
}

private class LongPage: Object {
  override class func _realmObjectName() -> String? { "Page" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
}
