import Foundation
import RealmSwift
import Service
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The texts of notes, by their ids.
private typealias Texts = [Int: String]

private func texts(_ realm: Realm) -> Texts {
  Dictionary(uniqueKeysWithValues: realm.objects(Note.self).map { ($0.id, $0.text) })
}

/// The values with which the blocks of a mode were called.
private struct Told {
  let before = Calls<Texts>()
  let after = Calls<[Texts]>()

  var recover: ClientResetMode {
    .recoverUnsyncedChanges(
      beforeReset: { [before] in before.add(texts($0)) },
      afterReset: { [after] in after.add([texts($0), texts($1)]) })
  }

  var discard: ClientResetMode {
    .discardUnsyncedChanges(
      beforeReset: { [before] in before.add(texts($0)) },
      afterReset: { [after] in after.add([texts($0), texts($1)]) })
  }

  var recoverOrDiscard: ClientResetMode {
    .recoverOrDiscardUnsyncedChanges(
      beforeReset: { [before] in before.add(texts($0)) },
      afterReset: { [after] in after.add([texts($0), texts($1)]) })
  }
}

extension SyncWorld {
  fileprivate var mainID: String { id(of: SyncWorld.main) }

  /// The number that the server has given to the only file that has ever connected.
  fileprivate func replica() async throws -> UInt64 {
    let port = try #require(monitorPort)
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/metrics"))
    let (data, _) = try await URLSession.shared.data(from: url)
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("realm_server_oldest_cursor{") })
    // The number follows the name: replica="1".
    let parts = line.split(separator: "\"")
    let name = try #require(parts.firstIndex { $0.hasSuffix("replica=") })
    return try #require(parts.dropFirst(name + 1).first.flatMap { UInt64($0) })
  }

  /// Lets the server give up a file. The file is reset when it connects again.
  fileprivate func giveUp(_ replica: UInt64) async throws {
    try await administer(.retire(app: mainID, replica: replica))
  }
}

/// The class `Note`, with another type for a property.
class OtherNote: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text = 0

  override class func _realmObjectName() -> String? { "Note" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Resets, which happen if the server has another history than a file.
@Suite(.timeLimit(.minutes(3))) @MainActor struct ResetTests {
  // MARK: - A file that is to be reset

  /// The texts of the file before the reset (`before`), after a reset that keeps the device's changes (`kept`), and
  /// after one that drops them.
  private let before: Texts = [1: "old", 2: "old", 3: "mine", 5: "mine"]
  private let kept: Texts = [1: "theirs", 3: "mine", 4: "theirs", 5: "mine"]
  private let dropped: Texts = [1: "theirs", 3: "old", 4: "theirs"]

  /// A realm whose session is suspended, and whose file the server has given up.
  ///
  /// Meanwhile others have changed the note 1, deleted 2 and made 4. On the device, 3 was changed and 5 was made, and
  /// no server has these changes.
  private func stale(
    _ world: SyncWorld, _ configuration: Realm.Configuration, _ other: User
  ) async throws -> Realm {
    let realm = try await opened(configuration, .once)
    try realm.write { for id in 1...3 { realm.add(Note(id, "old")) } }
    try await realm.upload()
    let replica = try await world.replica()
    try realm.sync().suspend()
    let others = try await opened(other.notes(), .always)
    try others.write {
      others.note(1)?.text = "theirs"
      if let gone = others.note(2) { others.delete(gone) }
      others.add(Note(4, "theirs"))
    }
    try await others.upload()
    try realm.write {
      realm.note(3)?.text = "mine"
      realm.add(Note(5, "mine"))
    }
    try await world.giveUp(replica)
    return realm
  }

  /// The notes of the server that another user sees.
  private func seen(by other: User) async throws -> Texts { texts(try await opened(other.notes(), .always)) }

  // MARK: - Automatic resets

  @Test func `changes that no server has are kept, and blocks see the file before and after the reset`()
    async throws
  {
    try await withWorld { world in
      let (users, told) = (try await world.users(2), Told())
      let realm = try await stale(world, users[0].notes(resets: told.recover), users[1])
      #expect(told.before.count == 0)
      try realm.sync().resume()
      #expect(try await told.after.first() == [before, kept])
      #expect(told.before.all == [before])
      try await eventually(in: realm) { texts(realm) == kept }
      #expect(try realm.sync().state == .active)
      try await realm.upload()
      #expect(try await seen(by: users[1]) == kept)
      // The realm continues.
      try realm.write { realm.add(Note(6, "new")) }
      try await realm.upload()
      #expect(try await seen(by: users[1])[6] == "new")
      #expect(told.before.count == 1 && told.after.count == 1)
    }
  }

  @Test func `changes that no server has are dropped if the app says so`() async throws {
    try await withWorld { world in
      let (users, told) = (try await world.users(2), Told())
      let realm = try await stale(world, users[0].notes(resets: told.discard), users[1])
      try realm.sync().resume()
      #expect(try await told.after.first() == [before, dropped])
      #expect(told.before.all == [before])
      try await eventually(in: realm) { texts(realm) == dropped }
      try realm.write { realm.add(Note(6, "new")) }
      try await realm.upload()
      #expect(try await seen(by: users[1]) == dropped.merging([6: "new"]) { $1 })
    }
  }

  @Test func `changes that can be kept are not dropped if the app allows both`() async throws {
    try await withWorld { world in
      let (users, told) = (try await world.users(2), Told())
      let realm = try await stale(world, users[0].notes(resets: told.recoverOrDiscard), users[1])
      try realm.sync().resume()
      #expect(try await told.after.first() == [before, kept])
      try await eventually(in: realm) { texts(realm) == kept }
      try await realm.upload()
      #expect(try await seen(by: users[1]) == kept)
    }
  }

  @Test func `changes are kept if the app says nothing`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      var configuration = users[0].flexibleSyncConfiguration(
        initialSubscriptions: { set in set.append(QuerySubscription<Note>()) })
      configuration.objectTypes = [Note.self]
      let modes = [
        configuration.syncConfiguration?.clientResetMode,
        users[0].configuration(partitionValue: "north").syncConfiguration?.clientResetMode,
      ]
      for mode in modes {
        if case .recoverUnsyncedChanges(nil, nil)? = mode { continue }
        Issue.record("Another mode is the default.")
      }
      let realm = try await stale(world, configuration, users[1])
      try realm.sync().resume()
      try await eventually(in: realm) { texts(realm) == kept }
      try await realm.upload()
      #expect(try await seen(by: users[1]) == kept)
    }
  }

  @Test func `waits for downloads and uploads end only after the reset`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let realm = try await stale(world, users[0].notes(), users[1])
      let session = try realm.sync()
      let ends = Calls<Bool>()
      session.wait(for: .download) { error in ends.add(error == nil) }
      session.wait(for: .upload) { error in ends.add(error == nil) }
      session.resume()
      try await eventually { ends.count == 2 }
      #expect(ends.all == [true, true])
      realm.refresh()
      #expect(texts(realm) == kept)
    }
  }

  @Test func `an open with a download opens after the reset`() async throws {
    try await withWorld { world in
      let (users, told) = (try await world.users(2), Told())
      let configuration = users[0].notes(resets: told.recover)
      do {
        let realm = try await stale(world, configuration, users[1])
        #expect(texts(realm) == before)
      }
      try await eventually { users[0].allSessions.isEmpty }
      let realm = try await opened(configuration, .always)
      #expect(texts(realm) == kept)
      #expect(told.before.all == [before] && told.after.all == [[before, kept]])
    }
  }

  @Test func `in conflicts, values of the device win, deletions stay, and sums are added`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let realm = try await opened(users[0].notes(), .once)
      try realm.write { for id in 1...4 { realm.add(Note(id, "old")) } }
      try await realm.upload()
      let replica = try await world.replica()
      try realm.sync().suspend()
      let others = try await opened(users[1].notes(), .always)
      try others.write {
        others.note(1)?.text = "theirs"
        if let gone = others.note(2) { others.delete(gone) }
        others.note(3)?.text = "theirs"
        others.note(4)?.increment(\.count, by: 5)
      }
      try await others.upload()
      try realm.write {
        realm.note(1)?.text = "mine"
        realm.note(2)?.text = "mine"
        if let gone = realm.note(3) { realm.delete(gone) }
        realm.note(4)?.increment(\.count, by: 7)
      }
      try await world.giveUp(replica)
      try realm.sync().resume()
      for realm in [realm, others] {
        try await eventually(in: realm) { texts(realm) == [1: "mine", 4: "old"] }
        try await eventually(in: realm) { realm.note(4)?.count == 12 }
      }
    }
  }

  @Test func `subscriptions that the server did not know yet are also kept`() async throws {
    try await withWorld(SyncWorld.trails) { world in
      let users = try await world.users(2)
      let realm = try await users[0].alpineTrails()
      try await realm.addTrails([Trail(1, "Alps")])
      let replica = try await world.replica()
      try realm.sync().suspend()
      let others = try await users[1].allTrails()
      try await others.addTrails([Trail(2, "Alps"), Trail(3, "Andes")])
      let set = realm.subscriptions
      set.change { set.append(QuerySubscription<Trail>(name: "andes") { $0.region == "Andes" }) }
      try realm.write { realm.add(Trail(4, "Andes")) }
      try await world.giveUp(replica)
      try realm.sync().resume()
      try await eventually(in: realm) { realm.trailIDs == [1, 2, 3, 4] }
      #expect(set.state == .complete && realm.subscriptions.names == ["alps", "andes"])
      try await eventually(in: others) { others.trailIDs == [1, 2, 3, 4] }
    }
  }

  @Test func `observers see a reset as its differences, and other objects stay valid`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let realm = try await opened(users[0].notes(), .once)
      try realm.write { for id in 1...9 { realm.add(Note(id, "old")) } }
      try await realm.upload()
      let replica = try await world.replica()
      try realm.sync().suspend()
      let others = try await opened(users[1].notes(), .always)
      try others.write {
        others.note(2)?.text = "theirs"
        if let gone = others.note(5) { others.delete(gone) }
        others.add(Note(10, "theirs"))
      }
      try await others.upload()
      try await world.giveUp(replica)
      let notes = realm.objects(Note.self).sorted(byKeyPath: "id")
      let (same, gone) = (try #require(realm.note(1)), try #require(realm.note(5)))
      let changes = Calls<String>()
      let token = notes.observe { change in
        switch change {
        case .initial: changes.add("first")
        case .update(_, let deletions, let insertions, let modifications):
          changes.add("-\(deletions) +\(insertions) ~\(modifications)")
        case .error(let error): changes.add("\(error)")
        }
      }
      _ = try await changes.first()
      try realm.sync().resume()
      try await eventually { changes.count > 1 }
      try await realm.upload()
      #expect(changes.all == ["first", "-[4] +[8] ~[1]"])
      #expect(!same.isInvalidated && same.text == "old" && gone.isInvalidated)
      token.invalidate()
    }
  }

  @Test func `a file continues with a server that was restored from a copy`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let realm = try await opened(users[0].notes(), .once)
      try realm.write { realm.add(Note(1, "before")) }
      try await realm.upload()
      let copy = world.root.appendingPathComponent("copy")
      try await world.administer(.backup(app: world.mainID, folder: copy.path))
      // The server gets these changes, and loses them.
      try realm.write {
        realm.note(1)?.text = "lost"
        realm.add(Note(2, "lost"))
      }
      try await realm.upload()
      await world.stop()
      let place = world.root.appendingPathComponent("server").appendingPathComponent(world.mainID)
      try FileManager.default.removeItem(at: place)
      try FileManager.default.moveItem(at: copy.appendingPathComponent(world.mainID), to: place)
      try realm.write { realm.add(Note(3, "mine")) }
      try await world.restart()
      try realm.sync().reconnect()
      let expected: Texts = [1: "before", 3: "mine"]
      try await eventually(in: realm) { texts(realm) == expected }
      try await realm.upload()
      #expect(try await seen(by: users[1]) == expected)
    }
  }

  @Test func `a reset that fails leaves the file to the app, and is tried again if the app asks`()
    async throws
  {
    try await withWorld { world in
      let (users, told) = (try await world.users(2), Calls<any Error>())
      world.app().syncManager.errorHandler = { error, _ in told.add(error) }
      let copy = world.root.appendingPathComponent("copy")
      try await world.administer(.backup(app: world.mainID, folder: copy.path))
      let configuration = users[0].notes()
      let file = try #require(configuration.fileURL).path
      do {
        let realm = try await opened(configuration, .once)
        try realm.write { realm.add(Note(1, "mine")) }
        try await realm.upload()
        try realm.sync().suspend()
        try realm.write { realm.add(Note(2, "mine")) }
        await world.stop()
        let place = world.root.appendingPathComponent("server").appendingPathComponent(world.mainID)
        try FileManager.default.removeItem(at: place)
        try FileManager.default.moveItem(at: copy.appendingPathComponent(world.mainID), to: place)
        try await world.restart()
        // The server no longer knows the class, and another device defines it differently.
        var other = users[1].flexibleSyncConfiguration(
          initialSubscriptions: { set in set.append(QuerySubscription<OtherNote>()) })
        other.objectTypes = [OtherNote.self]
        let others = try await opened(other, .once)
        try others.write { _ = others.create(OtherNote.self, value: ["id": 3]) }
        try await others.upload()
        for count in 1...2 {
          try realm.sync().resume()
          try await eventually { told.count == count }
          #expect(try realm.sync().state == .inactive)
        }
        realm.refresh()
        #expect(texts(realm) == [1: "mine", 2: "mine"])
      }
      let errors = told.all.compactMap { $0 as? SyncError }
      #expect(errors.map(\.code) == [.clientResetError, .clientResetError])
      let paths = Set(errors.compactMap { $0.clientResetInfo()?.0 })
      let (path, action) = try #require(errors.first?.clientResetInfo())
      #expect(paths == [path] && !exists(path))
      try await eventually { users[0].allSessions.isEmpty }
      SyncSession.immediatelyHandleError(action)
      #expect(exists(path) && !exists(file))
    }
  }

  // MARK: - Manual resets

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  @Test func `a manual reset is reported to its handler, and the open realm keeps its objects`() async throws
  {
    try await withWorld { world in
      let users = try await world.users(2)
      let (told, others) = (Calls<any Error>(), Calls<any Error>())
      world.app().syncManager.errorHandler = { error, _ in others.add(error) }
      let configuration = users[0].notes(resets: .manual(errorHandler: { error, _ in told.add(error) }))
      let realm = try await stale(world, configuration, users[1])
      let session = try realm.sync()
      session.resume()
      let first = try await told.first()
      let error = try #require(first as? SyncError)
      #expect(error.code == .clientResetError)
      #expect((error as NSError).domain == "io.realm.sync" && (error as NSError).code == 7)
      let (path, _) = try #require(error.clientResetInfo())
      #expect(path.contains("/mongodb-realm/\(world.mainID)/recovered-realms/recovered_realm-"))
      #expect(error.deleteRealmUserInfo() != nil)
      #expect(!exists(path))
      #expect(session.state == .inactive && session.connectionState == .disconnected)
      realm.refresh()
      #expect(texts(realm) == before)
      try realm.write { realm.note(1)?.text = "mine" }
      #expect(realm.note(1)?.text == "mine")
      #expect(told.count == 1 && others.count == 0)
      #expect(try await seen(by: users[1]) == dropped)
    }
  }

  @Test func `a manual reset without a handler is reported to the error handler of the app`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let told = Calls<(error: any Error, session: SyncSession?)>()
      world.app().syncManager.errorHandler = { error, session in told.add((error, session)) }
      let realm = try await stale(world, users[0].notes(resets: .manual()), users[1])
      try realm.sync().resume()
      let first = try await told.first()
      #expect((first.error as? SyncError)?.code == .clientResetError)
      #expect(first.session === realm.syncSession)
      #expect(texts(realm) == before)
      try await Task.sleep(for: .milliseconds(50))
      #expect(told.count == 1)
    }
  }

  /// The error of a manual reset, for a file that is no longer open.
  private func failed(
    _ world: SyncWorld, _ configuration: Realm.Configuration, _ told: Calls<any Error>, _ users: [User]
  ) async throws -> (path: String, action: SyncError.ActionToken) {
    do {
      let realm = try await stale(world, configuration, users[1])
      try realm.sync().resume()
      _ = try await told.first()
    }
    try await eventually { users[0].allSessions.isEmpty }
    let info = (told.all.first as? SyncError)?.clientResetInfo()
    let (path, action) = try #require(info)
    return (path, action)
  }

  @Test func `a file is moved away at once if the app asks for it, and the next open downloads again`()
    async throws
  {
    try await withWorld { world in
      let (users, told) = (try await world.users(2), Calls<any Error>())
      let configuration = users[0].notes(resets: .manual(errorHandler: { error, _ in told.add(error) }))
      let file = try #require(configuration.fileURL).path
      let (path, action) = try await failed(world, configuration, told, users)
      #expect(exists(file) && !exists(path))
      SyncSession.immediatelyHandleError(action)
      try await eventually { exists(path) && !exists(file) }
      // The action is done only once.
      SyncSession.immediatelyHandleError(action)
      let realm = try await opened(configuration, .always)
      #expect(texts(realm) == dropped)
      #expect(exists(file) && exists(path))
      try realm.write { realm.add(Note(6, "new")) }
      try await realm.upload()
      #expect(try await seen(by: users[1])[6] == "new")
      #expect(told.count == 1)
    }
  }

  @Test func `a file stays in its place as long as a realm has it open`() async throws {
    try await withWorld { world in
      let (users, told) = (try await world.users(2), Calls<any Error>())
      let configuration = users[0].notes(resets: .manual(errorHandler: { error, _ in told.add(error) }))
      let file = try #require(configuration.fileURL).path
      let realm = try await stale(world, configuration, users[1])
      try realm.sync().resume()
      let first = try await told.first()
      let (path, action) = try #require((first as? SyncError)?.clientResetInfo())
      SyncSession.immediatelyHandleError(action)
      try await Task.sleep(for: .milliseconds(100))
      #expect(exists(file) && !exists(path))
      realm.refresh()
      #expect(texts(realm) == before)
    }
  }
}
