import Foundation
import RealmSwift
import Testing

/// A note in a newer app, which has one more property.
private class LongNote: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text = ""
  @Persisted var owner = ""
  @Persisted var count = 0
  @Persisted var extra = "new"
  override class func _realmObjectName() -> String? { "Note" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A class whose property is stored with another name.
private class Renamed: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var title = ""
  override class func _realmObjectName() -> String? { "Labelled" }
  override class func propertiesMapping() -> [String: String] { ["title": "label"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Labelled: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var label = ""
  override class func _realmObjectName() -> String? { "Labelled" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Changes of other devices, as a device sees them.
@Suite(.timeLimit(.minutes(3))) @MainActor struct RemoteTests {
  /// Calls `body` with two devices that have all notes.
  private func withDevices(_ body: @MainActor (Realm, Realm) async throws -> Void) async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await body(
        try await opened(users[0].notes(), .once), try await opened(users[1].notes(), .once))
    }
  }

  // MARK: - Notifications

  @Test func `observers of results hear of objects that other devices make, change and delete`() async throws
  {
    try await withDevices { one, two in
      let changes = Calls<String>()
      let token = two.objects(Note.self).sorted(byKeyPath: "id").observe { change in
        switch change {
        case .initial(let notes): changes.add("initial \(notes.count)")
        case .update(_, let deletions, let insertions, let modifications):
          changes.add("-\(deletions) +\(insertions) ~\(modifications)")
        case .error(let error): changes.add("\(error)")
        }
      }
      try await eventually { changes.count == 1 }
      try one.write { for id in 1...3 { one.add(Note(id)) } }
      try await eventually { changes.count == 2 }
      try one.write { one.note(2)?.text = "changed" }
      try await eventually { changes.count == 3 }
      try one.write { if let note = one.note(1) { one.delete(note) } }
      try await eventually { changes.count == 4 }
      #expect(changes.all == ["initial 0", "-[] +[0, 1, 2] ~[]", "-[] +[] ~[1]", "-[0] +[] ~[]"])
      token.invalidate()
    }
  }

  @Test func `observers of an object hear of properties that other devices set, and of its deletion`()
    async throws
  {
    try await withDevices { one, two in
      try one.write { one.add(Note(1, "first")) }
      try await eventually(in: two) { two.noteIDs == [1] }
      let changes = Calls<String>()
      let note = try #require(two.note(1))
      let token = note.observe { change in
        switch change {
        case .change(_, let properties):
          let texts = properties.map { "\($0.name): \($0.newValue ?? "nil")" }
          changes.add(texts.sorted().joined(separator: ", "))
        case .deleted: changes.add("deleted")
        case .error(let error): changes.add("\(error)")
        }
      }
      try one.write {
        one.note(1)?.text = "second"
        one.note(1)?.count = 5
      }
      try await eventually { changes.count == 1 }
      try one.write { one.deleteAll() }
      try await eventually { changes.count == 2 }
      #expect(changes.all == ["count: 5, text: second", "deleted"])
      #expect(note.isInvalidated)
      token.invalidate()
    }
  }

  @Test func `a realm's observers hear of changes of other devices`() async throws {
    try await withDevices { one, two in
      let calls = Calls<Int>()
      let token = two.observe { notification, realm in
        if notification == .didChange { calls.add(realm.objects(Note.self).count) }
      }
      try one.write { one.add(Note(1)) }
      try await eventually { calls.all.last == 1 }
      token.invalidate()
    }
  }

  @Test func `a frozen object stays unchanged while the live one follows other devices`() async throws {
    try await withDevices { one, two in
      try one.write { one.add(Note(1, "first")) }
      try await eventually(in: two) { two.noteIDs == [1] }
      let note = try #require(two.note(1))
      let frozen = note.freeze()
      try one.write { one.note(1)?.text = "second" }
      try await eventually(in: two) { note.text == "second" }
      #expect(frozen.text == "first")
    }
  }

  // MARK: - Together

  @Test func `the offline changes of two devices are merged, with the same result on both`() async throws {
    try await withDevices { one, two in
      try one.write { for id in 1...4 { one.add(Note(id, "first")) } }
      try await eventually(in: two) { two.noteIDs == [1, 2, 3, 4] }
      for realm in [one, two] { try realm.sync().suspend() }
      try one.write {
        one.note(1)?.text = "one"
        one.note(2)?.text = "one"
        if let note = one.note(3) { one.delete(note) }
        one.add(Note(5, "one"))
      }
      try two.write {
        two.note(1)?.count = 2
        two.note(2)?.text = "two"
        two.note(3)?.text = "two"
        two.add(Note(6, "two"))
      }
      for realm in [one, two] { try realm.sync().resume() }
      for realm in [one, two] { try await realm.upload() }
      for realm in [one, two] { try await realm.download() }
      for realm in [one, two] {
        #expect(realm.noteIDs == [1, 2, 4, 5, 6])
        #expect(realm.note(1)?.text == "one" && realm.note(1)?.count == 2)
      }
      #expect(one.note(2)?.text == two.note(2)?.text)
    }
  }

  @Test func `deleting all objects of a device deletes them everywhere`() async throws {
    try await withDevices { one, two in
      try one.write { for id in 1...20 { one.add(Note(id)) } }
      try await eventually(in: two) { two.noteIDs.count == 20 }
      try two.write { two.deleteAll() }
      try await eventually(in: one) { one.noteIDs.isEmpty }
      try one.write { one.add(Note(1)) }
      try await eventually(in: two) { two.noteIDs == [1] }
    }
  }

  // MARK: - Other versions of the app

  @Test func `an app that lacks a property of a class leaves that property unchanged`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      var configuration = users[1].flexibleSyncConfiguration(
        initialSubscriptions: { $0.append(QuerySubscription<LongNote>()) })
      configuration.objectTypes = [LongNote.self]
      let older = try await opened(users[0].notes(), .once)
      try older.write { older.add(Note(1, "old")) }
      try await older.upload()
      let newer = try await opened(configuration, .once)
      let long = try #require(newer.objects(LongNote.self).first)
      #expect(long.text == "old")
      try newer.write { long.extra = "kept" }
      try newer.write { newer.create(LongNote.self, value: ["id": 2]) }
      try await newer.upload()
      try await eventually(in: older) { older.noteIDs == [1, 2] }
      try older.write { older.note(1)?.text = "changed" }
      try await eventually(in: newer) { long.text == "changed" }
      #expect(long.extra == "kept")
      #expect(newer.object(ofType: LongNote.self, forPrimaryKey: 2)?.extra == "new")
    }
  }

  @Test func `an app may add a property and remove it again without a new schema version`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      do {
        let realm = try await opened(user.notes(), .once)
        try realm.write { realm.add(Note(1, "first")) }
        try await realm.upload()
      }
      try await eventually { user.allSessions.isEmpty }
      var configuration = user.notes()
      configuration.objectTypes = [LongNote.self]
      do {
        let realm = try opened(configuration)
        let note = try #require(realm.objects(LongNote.self).first)
        try realm.write { note.extra = "kept" }
        try await realm.upload()
      }
      try await eventually { user.allSessions.isEmpty }
      do {
        let realm = try opened(user.notes())
        #expect(realm.note(1)?.text == "first")
        withExtendedLifetime(realm) {}
      }
      try await eventually { user.allSessions.isEmpty }
      let realm = try opened(configuration)
      #expect(realm.objects(LongNote.self).first?.extra == "kept")
    }
  }

  @Test func `the stored names of properties are sent`() async throws {
    try await withWorld("development: true\nfields:\n  Labelled: [label]\n") { world in
      let users = try await world.users(2)
      var renamed = users[0].flexibleSyncConfiguration(
        initialSubscriptions: { $0.append(QuerySubscription<Renamed> { $0.title == "seen" }) })
      renamed.objectTypes = [Renamed.self]
      var plain = users[1].flexibleSyncConfiguration(
        initialSubscriptions: { $0.append(QuerySubscription<Labelled>()) })
      plain.objectTypes = [Labelled.self]
      let one = try await opened(renamed, .once)
      let two = try await opened(plain, .once)
      try two.write {
        two.create(Labelled.self, value: ["id": 1, "label": "seen"] as [String: Any])
        two.create(Labelled.self, value: ["id": 2, "label": "hidden"] as [String: Any])
      }
      try await eventually(in: one) { one.objects(Renamed.self).first?.title == "seen" }
      #expect(one.objects(Renamed.self).count == 1)
      try one.write { one.create(Renamed.self, value: ["id": 3, "title": "seen"] as [String: Any]) }
      try await eventually(in: two) {
        two.object(ofType: Labelled.self, forPrimaryKey: 3)?.label == "seen"
      }
    }
  }

  @Test func `a value of any type is a dynamic object if the program lacks its class`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let newer = try opened(users[0].plots(in: "north", [AnyHolder.self, Note.self]))
      try newer.write {
        let note = Note(1, "linked")
        newer.add(note)
        newer.create(AnyHolder.self, value: ["id": 1]).value = .object(note)
      }
      try await newer.upload()
      let older = try await opened(users[1].plots(in: "north", [AnyHolder.self]), .once)
      let holder = try #require(older.objects(AnyHolder.self).first)
      let note = try #require(holder.value.dynamicObject)
      #expect(note["id"] as? Int == 1 && note["text"] as? String == "linked")
    }
  }

  /// The configuration of the partition that all versions of a class share.
  ///
  /// - Parameter url: The URL of the file; nil for the user's file.
  private static func versioned(
    _ user: User, _ type: Object.Type, at url: URL? = nil
  ) -> Realm.Configuration {
    var configuration = user.configuration(partitionValue: "north")
    configuration.objectTypes = [type]
    if let url { configuration.fileURL = url }
    return configuration
  }

  @Test func `a property that another version has made optional reads null as the zero of its type`()
    async throws
  {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let older = try opened(Self.versioned(users[0], FirstVersion.self))
      try older.write { older.create(FirstVersion.self, value: ["id": 1, "text": "one", "count": 1]) }
      try await older.upload()
      let newer = try await opened(Self.versioned(users[1], SecondVersion.self), .once)
      try newer.write {
        guard let object = newer.object(ofType: SecondVersion.self, forPrimaryKey: 1) else { return }
        object.text = nil
        object.day = nil
        object.count = nil
        object.weather = nil
        newer.create(SecondVersion.self, value: ["id": 2])
      }
      try await newer.upload()
      try await eventually(in: older) { older.objects(FirstVersion.self).count == 2 }
      let object = try #require(older.object(ofType: FirstVersion.self, forPrimaryKey: 1))
      #expect(object.text == "" && object.count == 0)
      #expect(object.day == Date(timeIntervalSince1970: 0))
      // The enumeration has no case for the zero of its raw type, so the property has its default.
      #expect(object.weather == .snow)
      try older.write { object.text = "again" }
      try await older.upload()
      try await eventually(in: newer) {
        newer.object(ofType: SecondVersion.self, forPrimaryKey: 1)?.text == "again"
      }
    }
  }

  @Test func `a property becomes optional in an existing file, and on all devices`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(3)
      let file = world.file()
      do {
        let old = try opened(Self.versioned(users[0], FirstVersion.self, at: file))
        try old.write { old.create(FirstVersion.self, value: ["id": 1, "text": "one", "count": 1]) }
        try await old.upload()
      }
      try await eventually { users[0].allSessions.isEmpty }
      do {
        let updated = try opened(Self.versioned(users[0], SecondVersion.self, at: file))
        let object = try #require(updated.object(ofType: SecondVersion.self, forPrimaryKey: 1))
        #expect(object.text == "one" && object.count == 1)
        try updated.write {
          object.text = nil
          updated.create(SecondVersion.self, value: ["id": 2])
        }
        try await updated.upload()
        #expect(object.text == nil && object.count == 1)
      }
      // A new device gets the objects that the server has accepted.
      let fresh = try await opened(Self.versioned(users[1], SecondVersion.self), .once)
      #expect(fresh.objects(SecondVersion.self).count == 2)
      let taken = try #require(fresh.object(ofType: SecondVersion.self, forPrimaryKey: 1))
      #expect(taken.text == nil && taken.count == 1)
      let older = try await opened(Self.versioned(users[2], FirstVersion.self), .once)
      #expect(older.object(ofType: FirstVersion.self, forPrimaryKey: 1)?.text == "")
      // The next release makes the property required again, and null becomes zero.
      try await eventually { users[0].allSessions.isEmpty }
      let again = try opened(Self.versioned(users[0], FirstVersion.self, at: file))
      let object = try #require(again.object(ofType: FirstVersion.self, forPrimaryKey: 1))
      #expect(object.text == "" && object.count == 1)
      try again.write { object.text = "third" }
      try await again.upload()
      try await eventually(in: fresh) { taken.text == "third" }
    }
  }

  @Test func `a primary key does not become optional in an existing file`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let user = try await world.user()
      do {
        let old = try opened(Self.versioned(user, FirstKey.self))
        try old.write { old.create(FirstKey.self, value: ["id": 1]) }
        try await old.upload()
      }
      try await eventually { user.allSessions.isEmpty }
      let error = #expect(throws: Realm.Error.self) {
        _ = try opened(Self.versioned(user, SecondKey.self))
      }
      #expect(error?.code == .schemaMismatch && error?.localizedDescription.contains("Keyed.id") == true)
    }
  }
}

private enum Weather: String, PersistableEnum { case sun, snow }

/// A class in two versions of an app.
private class FirstVersion: Object {
  override class func _realmObjectName() -> String? { "Versioned" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
  @Persisted var day: Date
  @Persisted var count: Int
  @Persisted var weather = Weather.snow
}

private class SecondVersion: Object {
  override class func _realmObjectName() -> String? { "Versioned" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String?
  @Persisted var day: Date?
  @Persisted var count: Int?
  @Persisted var weather: Weather?
}

private class FirstKey: Object {
  override class func _realmObjectName() -> String? { "Keyed" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  @Persisted(primaryKey: true) var id: Int
}

private class SecondKey: Object {
  override class func _realmObjectName() -> String? { "Keyed" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  @Persisted(primaryKey: true) var id: Int?
}
