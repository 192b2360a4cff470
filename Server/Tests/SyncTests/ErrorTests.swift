import Dispatch
import Foundation
import RealmSwift
import Testing

/// The errors that the error handler of an app gets.
@Suite(.timeLimit(.minutes(3))) @MainActor struct ErrorTests {
  typealias Told = (error: any Error, session: SyncSession?)

  /// Rights with which all users read all notes, and each user writes only the user's own notes.
  private static let owned = """
    fields:
      Note: [owner]
    rights:
      Note:
        read: true
        write: owner == $user.id

    """

  private func told(_ world: SyncWorld) -> Calls<Told> {
    let errors = Calls<Told>()
    world.app().syncManager.errorHandler = { error, session in
      dispatchPrecondition(condition: .onQueue(.main))
      errors.add((error, session))
    }
    return errors
  }

  @Test func `an object that the user may not make is reported by its class and key, and is then gone`()
    async throws
  {
    try await withWorld(Self.owned) { world in
      let users = try await world.users(2)
      let errors = told(world)
      let realm = try await opened(users[0].notes(), .once)
      try realm.write {
        realm.add(Note(1, owner: users[0].id))
        realm.add(Note(2, owner: users[1].id))
      }
      let first = try await errors.first()
      // The error is reported after the change was undone.
      realm.refresh()
      #expect(realm.noteIDs == [1])
      let error = try #require(first.error as? SyncError)
      #expect(error.code == .writeRejected)
      #expect(first.session === realm.syncSession)
      let infos = try #require(error.compensatingWriteInfo)
      #expect(infos.map(\.objectType) == ["Note"])
      #expect(infos.map(\.primaryKey) == [.int(2)])
      #expect(infos.allSatisfy { !$0.reason.isEmpty })
      #expect(error.localizedDescription.contains("Note"))
      let plain = error as NSError
      #expect(plain.domain == "io.realm.sync" && plain.code == 11)
      #expect(plain.userInfo["Error Name"] is String)
      // The session continues.
      #expect(try realm.sync().state == .active)
      let other = try await opened(users[1].notes(), .once)
      try await eventually(in: other) { other.noteIDs == [1] }
      #expect(errors.count == 1)
    }
  }

  @Test func `changes and deletions that the user may not make are undone`() async throws {
    try await withWorld(Self.owned) { world in
      let users = try await world.users(2)
      let errors = told(world)
      let other = try await opened(users[1].notes(), .once)
      try other.write { for id in 1...2 { other.add(Note(id, "hers", owner: users[1].id)) } }
      try await other.upload()
      let realm = try await opened(users[0].notes(), .always)
      try realm.write {
        realm.note(1)?.text = "mine"
        if let note = realm.note(2) { realm.delete(note) }
        realm.add(Note(3, "mine", owner: users[0].id))
      }
      #expect(realm.note(1)?.text == "mine" && realm.note(2) == nil)
      try await eventually(in: realm) { realm.note(1)?.text == "hers" && realm.note(2)?.text == "hers" }
      try await eventually {
        Self.keys(errors.all) == [1, 2]
      }
      #expect(realm.note(3)?.text == "mine")
      try await eventually(in: other) { other.noteIDs == [1, 2, 3] }
      #expect(other.note(1)?.text == "hers")
    }
  }

  /// The keys of all objects whose changes were refused.
  private static func keys(_ told: [Told]) -> Set<Int> {
    let infos = told.flatMap { ($0.error as? SyncError)?.compensatingWriteInfo ?? [] }
    return Set(infos.compactMap { info in info.primaryKey.intValue })
  }

  @Test func `a handler that is set after the realm was opened also gets errors`() async throws {
    try await withWorld(Self.owned) { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let errors = told(world)
      try realm.write { realm.add(Note(1, owner: "nobody")) }
      let first = try await errors.first()
      #expect((first.error as? SyncError)?.code == .writeRejected)
      withExtendedLifetime(realm) {}
    }
  }

  @Test func `a refusal without a listener is reported in the next session, once`() async throws {
    try await withWorld(Self.owned) { world in
      let user = try await world.user()
      do {
        let realm = try await opened(user.notes(), .once)
        try realm.write { realm.add(Note(1, owner: "nobody")) }
        try await realm.upload()
        try await eventually(in: realm) { realm.noteIDs.isEmpty }
      }
      try await eventually { user.allSessions.isEmpty }
      let errors = told(world)
      do {
        let realm = try opened(user.notes())
        let first = try await errors.first()
        #expect((first.error as? SyncError)?.code == .writeRejected)
        #expect((first.error as? SyncError)?.compensatingWriteInfo?.map(\.primaryKey) == [.int(1)])
        try await realm.download()
      }
      try await eventually { user.allSessions.isEmpty }
      let realm = try opened(user.notes())
      try await realm.download()
      #expect(errors.count == 1)
    }
  }

  @Test func `a network that is away is not an error for the handler`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let errors = told(world)
      let realm = try await opened(user.notes(), .once)
      await world.stop()
      try await Task.sleep(for: .milliseconds(300))
      try await world.restart()
      try realm.sync().reconnect()
      try await realm.download()
      #expect(errors.count == 0)
    }
  }

  @Test func `a partition that the server lacks ends the session, and the handler is told`() async throws {
    // This app has no partitions.
    try await withWorld { world in
      let user = try await world.user()
      let errors = told(world)
      var configuration = user.configuration(partitionValue: "north")
      configuration.objectTypes = [Note.self]
      let realm = try opened(configuration)
      try realm.write { realm.add(Note(1)) }
      let first = try await errors.first()
      let code = (first.error as? SyncError)?.code
      #expect(code == .clientSessionError || code == .permissionDeniedError, "\(first.error)")
      #expect(first.session === realm.syncSession)
      try await eventually { try realm.sync().state == .inactive }
      // The written objects stay.
      #expect(realm.noteIDs == [1])
      await #expect(throws: SyncError.self) { _ = try await opened(configuration, .always) }
    }
  }
}
