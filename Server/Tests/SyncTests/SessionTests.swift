import Dispatch
import Foundation
import RealmSwift
import Testing

@Suite(.timeLimit(.minutes(3))) @MainActor struct SessionTests {
  // MARK: - Life

  @Test func `a commit is uploaded even if the realm is released right after it`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      for id in 1...5 {
        let realm = try opened(users[0].notes())
        try realm.write { realm.add(Note(id)) }
      }
      let other = try opened(users[1].notes())
      try await eventually(in: other) { other.noteIDs == Array(1...5) }
      try await eventually { users[0].allSessions.isEmpty }
    }
  }

  @Test func `a session whose realm is released lasts until the server has its changes`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      await world.stop()
      do {
        let realm = try opened(users[0].notes())
        try realm.write { realm.add(Note(1)) }
      }
      try await Task.sleep(for: .milliseconds(100))
      #expect(users[0].allSessions.count == 1)
      try await world.restart()
      for session in users[0].allSessions { session.reconnect() }
      try await eventually { users[0].allSessions.isEmpty }
      let other = try await opened(users[1].notes(), .once)
      #expect(other.noteIDs == [1])
    }
  }

  @Test func `a realm that is opened again before all is uploaded continues with its session`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      await world.stop()
      let session: SyncSession
      do {
        let realm = try opened(users[0].notes())
        try realm.write { realm.add(Note(1)) }
        session = try realm.sync()
      }
      let realm = try opened(users[0].notes())
      #expect(realm.syncSession === session)
      try realm.write { realm.add(Note(2)) }
      try await world.restart()
      session.reconnect()
      let other = try opened(users[1].notes())
      try await eventually(in: other) { other.noteIDs == [1, 2] }
      #expect(session.state == .active)
      withExtendedLifetime(realm) {}
    }
  }

  @Test func `a session ends when its realm is closed`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let session: SyncSession
      do {
        let realm = try await opened(user.notes(), .once)
        session = try realm.sync()
        #expect(session.state == .active)
        #expect(session.parentUser() === user)
        #expect(session.configuration()?.user === user)
        #expect(session.configuration()?.partitionValue == nil)
        #expect(user.allSessions.map { ObjectIdentifier($0) } == [ObjectIdentifier(session)])
        withExtendedLifetime(realm) {}
      }
      try await eventually { session.state == .invalid }
      try await eventually { session.connectionState == .disconnected }
      #expect(session.parentUser() == nil && session.configuration() == nil)
      #expect(user.allSessions.isEmpty)
      session.resume()
      session.reconnect()
      #expect(session.state == .invalid)
      let realm = try opened(user.notes())
      #expect(try realm.sync() !== session)
    }
  }

  @Test func `all realms of a file have one session, and each file has its own`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let (first, second) = (user.notes(), user.notes(at: world.file()))
      let realms = [try opened(first), try opened(second), try opened(first)]
      #expect(realms[0].syncSession === realms[2].syncSession)
      #expect(realms[0].syncSession !== realms[1].syncSession)
      #expect(user.allSessions.count == 2)
      let queue = DispatchQueue(label: "another")
      let session = try queue.sync { @Sendable () throws -> SyncSession? in
        try Realm(configuration: first, queue: queue).syncSession
      }
      #expect(session === realms[0].syncSession)
      withExtendedLifetime(realms) {}
    }
  }

  @Test func `apps of one process do not see each other's objects`() async throws {
    try await withWorld(apps: ["first": SyncWorld.development, "second": SyncWorld.development]) { world in
      let (first, second) = (try await world.users(2, of: "first"), try await world.users(2, of: "second"))
      try await first[0].uploadNotes(1...2)
      try await second[0].uploadNotes(3...3)
      let (one, two) = (
        try await opened(first[1].notes(), .once), try await opened(second[1].notes(), .once)
      )
      #expect(one.noteIDs == [1, 2])
      #expect(two.noteIDs == [3])
    }
  }

  // MARK: - Suspending

  @Test func `suspend and resume concern only one realm, and both directions`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let still = try await opened(users[0].notes(at: world.file("still")), .once)
      let busy = try await opened(users[0].notes(at: world.file("busy")), .once)
      let other = try await opened(users[1].notes(), .once)
      let session = try still.sync()
      session.suspend()
      #expect(session.state == .inactive)
      try await eventually { session.connectionState == .disconnected }
      #expect(try busy.sync().state == .active)
      try still.write { still.add(Note(1)) }
      try busy.write { busy.add(Note(2)) }
      try other.write { other.add(Note(3)) }
      try await busy.upload()
      try await other.upload()
      try await eventually(in: busy) { busy.noteIDs == [2, 3] }
      try await eventually(in: other) { other.noteIDs == [2, 3] }
      still.refresh()
      #expect(still.noteIDs == [1])
      session.resume()
      #expect(session.state == .active)
      for realm in [still, busy, other] {
        try await eventually(in: realm) { realm.noteIDs == [1, 2, 3] }
      }
    }
  }

  @Test func `a second suspend and a resume of a running session have no effect`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let session = try realm.sync()
      session.resume()
      #expect(session.state == .active)
      session.suspend()
      session.suspend()
      #expect(session.state == .inactive)
      session.reconnect()
      #expect(session.state == .inactive)
      session.resume()
      try realm.write { realm.add(Note(1)) }
      try await realm.upload()
    }
  }

  @Test func `a suspended session stays suspended if its realm is opened again`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let realm = try await opened(users[0].notes(), .once)
      try realm.sync().suspend()
      let again = try opened(users[0].notes())
      #expect(try again.sync().state == .inactive)
      try again.write { again.add(Note(1)) }
      let other = try await opened(users[1].notes(), .once)
      try await Task.sleep(for: .milliseconds(100))
      try await other.download()
      #expect(other.noteIDs.isEmpty)
      withExtendedLifetime(realm) {}
    }
  }

  // MARK: - Waiting

  @Test func `waits for a suspended session continue with it, and are told on its queue`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let session = try realm.sync()
      session.suspend()
      try realm.write { realm.add(Note(1)) }
      let (ends, queue) = (Calls<Bool>(), DispatchQueue(label: "waiting"))
      session.wait(for: .upload, queue: queue) { error in
        dispatchPrecondition(condition: .onQueue(queue))
        ends.add(error == nil)
      }
      session.wait(for: .download) { error in
        dispatchPrecondition(condition: .onQueue(.main))
        ends.add(error == nil)
      }
      try await Task.sleep(for: .milliseconds(100))
      #expect(ends.count == 0)
      session.resume()
      try await eventually { ends.count == 2 }
      #expect(ends.all == [true, true])
      withExtendedLifetime(realm) {}
    }
  }

  @Test func `waits for a session that is suspended meanwhile end with an error`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      await world.stop()
      let realm = try opened(user.notes())
      try realm.write { realm.add(Note(1)) }
      let session = try realm.sync()
      let ends = Calls<Bool>()
      session.wait(for: .download) { error in ends.add(error is SyncError) }
      let waiting = Task {
        do {
          try await session.wait(for: .upload)
          ends.add(false)
        } catch {
          ends.add(error is SyncError)
        }
      }
      try await Task.sleep(for: .milliseconds(100))
      #expect(ends.count == 0)
      // On a busy machine the task may begin late, so each suspension ends the waits that exist by then.
      try await eventually {
        session.suspend()
        session.resume()
        return ends.count == 2
      }
      #expect(ends.all == [true, true])
      await waiting.value
      withExtendedLifetime(realm) {}
    }
  }

  @Test func `a task that waits for a session can be cancelled`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      await world.stop()
      let realm = try opened(user.notes())
      let session = try realm.sync()
      let waiting = Task { try await session.wait(for: .download) }
      try await Task.sleep(for: .milliseconds(50))
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await within { try await waiting.value } }
      #expect(session.state == .active)
      withExtendedLifetime(realm) {}
    }
  }

  @Test func `a wait for a download ends with all objects that were uploaded before`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let (one, two) = (
        try await opened(users[0].notes(), .once), try await opened(users[1].notes(), .once)
      )
      for id in 1...20 {
        let (from, to) = id.isMultiple(of: 2) ? (one, two) : (two, one)
        try from.write { from.add(Note(id)) }
        try await from.upload()
        try await to.download()
        #expect(to.noteIDs == Array(1...id))
      }
    }
  }

  @Test func `a session is disconnected as soon as it is suspended`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let session = try realm.sync()
      #expect(session.connectionState == .connected)
      session.suspend()
      #expect(session.connectionState == .disconnected)
      withExtendedLifetime(realm) {}
    }
  }
}
