import Foundation
import RealmSwift
import Testing

/// The connection of a user, and the way in which sessions report it.
@Suite(.timeLimit(.minutes(3))) @MainActor struct ConnectionTests {
  typealias State = SyncSession.ConnectionState

  /// The ways in which an app asks for a connection.
  enum Way: CaseIterable {
    case resume, suspendAndResume, reconnect

    func take(_ session: SyncSession) {
      switch self {
      case .resume: session.resume()
      case .suspendAndResume:
        session.suspend()
        session.resume()
      case .reconnect: session.reconnect()
      }
    }
  }

  // MARK: - Observing

  @Test func `an observer is told each state of a connection, with the state before it`() async throws {
    try await withWorld { world in
      // The socket ends with the session, so that the next session opens another one.
      _ = world.app { $0.syncTimeouts = SyncTimeoutOptions(connectionLingerTime: 0) }
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let session = try realm.sync()
      #expect(session.connectionState == .connected)
      let changes = Calls<(old: State?, new: State?)>()
      let token = session.observe(\.connectionState, options: [.initial, .new, .old]) { told, change in
        if told === session { changes.add((change.oldValue, change.newValue)) }
      }
      #expect(changes.all.map { $0.new } == [.connected])
      session.suspend()
      try await eventually { changes.all.last?.new == .disconnected }
      try await eventually { try await world.metric("connections") == 0 }
      session.resume()
      try await eventually { changes.all.last?.new == .connected }
      #expect(changes.all.map { $0.new } == [.connected, .disconnected, .connecting, .connected])
      #expect(changes.all.map { $0.old } == [nil, .connected, .disconnected, .connecting])
      token.invalidate()
      session.suspend()
      try await Task.sleep(for: .milliseconds(100))
      #expect(changes.count == 4)
      withExtendedLifetime(realm) {}
    }
  }

  @Test func `an observer without options hears of a change, without its values`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let session = try realm.sync()
      let states = Calls<State>()
      let token = session.observe(\.connectionState) { session, change in
        #expect(change.oldValue == nil && change.newValue == nil)
        states.add(session.connectionState)
      }
      #expect(states.count == 0)
      session.suspend()
      #expect(try await states.first() == .disconnected)
      token.invalidate()
      withExtendedLifetime(realm) {}
    }
  }

  @Test func `a loop gets the states of a connection, and ends with the session`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let states = Calls<State>()
      let loop: Task<Void, Never>
      do {
        let realm = try opened(user.notes())
        let stream = try realm.sync().connectionStates
        loop = Task { for await state in stream { states.add(state) } }
        try await eventually { states.all.last == .connected }
        await world.stop()
        try await eventually { states.all.last != .connected }
        try await world.restart()
        try realm.sync().reconnect()
        try await eventually { states.all.last == .connected }
        withExtendedLifetime(realm) {}
      }
      try await within { await loop.value }
      #expect(states.all.last == .disconnected)
      let repeated = zip(states.all, states.all.dropFirst()).contains { $0 == $1 }
      #expect(!repeated, "\(states.all)")
    }
  }

  @Test func `a session without a server continues to try, and is active meanwhile`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      await world.stop()
      let realm = try opened(user.notes())
      let session = try realm.sync()
      let states = Calls<State>()
      let token = session.observe(\.connectionState, options: [.new]) { _, change in
        if let state = change.newValue { states.add(state) }
      }
      try await eventually { states.all.count { $0 == .connecting } >= 2 }
      #expect(!states.all.contains(.connected))
      #expect(session.state == .active)
      token.invalidate()
      withExtendedLifetime(realm) {}
    }
  }

  // MARK: - Coming back

  @Test(arguments: Way.allCases)
  func `a session that has waited long connects within a second if the app asks for it`(
    _ way: Way
  ) async throws {
    try await withWorld { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let session = try realm.sync()
      let states = Calls<State>()
      let token = session.observe(\.connectionState, options: [.new]) { _, change in
        if let state = change.newValue { states.add(state) }
      }
      await world.stop()
      // The session has tried twice, so that it now waits for at least 1.5 s.
      try await eventually {
        states.all.count { $0 == .connecting } >= 2 && states.all.last == .disconnected
      }
      try await world.restart()
      let begin = ContinuousClock.now
      way.take(session)
      try await eventually { session.connectionState == .connected }
      #expect(ContinuousClock.now - begin < .milliseconds(1400))
      try realm.write { realm.add(Note(1)) }
      try await realm.upload()
      token.invalidate()
    }
  }

  @Test func `a session reconnects without the app when the server is back`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let (one, two) = (
        try await opened(users[0].notes(), .once), try await opened(users[1].notes(), .once)
      )
      try await world.restart()
      try one.write { one.add(Note(1)) }
      try await eventually(in: two) { two.noteIDs == [1] }
    }
  }

  @Test func `changes that were under way when a connection broke arrive once`() async throws {
    try await withWorld { world in
      let proxy = try await SyncProxy.start(for: world.port)
      _ = world.app { $0.baseURL = proxy.address }
      let users = try await world.users(2)
      let (one, two) = (
        try await opened(users[0].notes(), .once), try await opened(users[1].notes(), .once)
      )
      let counted = Note(0)
      try one.write { one.add(counted) }
      try await one.upload()
      try await two.download()
      for round in 1...10 {
        try one.write {
          one.add(Note(round, noise(20_000)))
          counted.count += 1
        }
        try two.write { two.note(0)?.count += 1 }
        try await Task.sleep(for: .milliseconds(round))
        proxy.cut()
        for realm in [one, two] { try realm.sync().reconnect() }
      }
      for realm in [one, two] { try await realm.upload() }
      try await eventually(in: one) {
        two.refresh()
        return one.noteIDs == Array(0...10) && two.noteIDs == one.noteIDs
          && one.note(0)?.count == two.note(0)?.count
      }
      await proxy.stop()
    }
  }

  @Test func `new headers make sessions connect again`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      let states = Calls<State>()
      let token = try realm.sync().observe(\.connectionState, options: [.new]) { _, change in
        if let state = change.newValue { states.add(state) }
      }
      let manager = world.app().syncManager
      manager.customRequestHeaders = ["X-Test": "1"]
      #expect(manager.customRequestHeaders == ["X-Test": "1"])
      try await eventually { states.all.count == 3 }
      #expect(states.all == [.disconnected, .connecting, .connected])
      try realm.write { realm.add(Note(1)) }
      try await realm.upload()
      token.invalidate()
    }
  }

  // MARK: - Sharing

  @Test func `all realms of a user share one connection, which outlives a session`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let realms = try (0..<5).map { _ in try opened(users[0].notes(at: world.file())) }
      try await eventually { try await world.metric("channels") == 5 }
      #expect(try await world.metric("connections") == 1)
      let other = try opened(users[1].notes())
      try await eventually { try await world.metric("channels") == 6 }
      #expect(try await world.metric("connections") == 2)
      for realm in realms { try realm.sync().suspend() }
      try await eventually { try await world.metric("channels") == 1 }
      #expect(try await world.metric("connections") == 2)
      try realms[0].sync().resume()
      try await eventually { try await world.metric("channels") == 2 }
      #expect(try await world.metric("connections") == 2)
      withExtendedLifetime((realms, other)) {}
    }
  }

  @Test func `realms do not share connections if the app does not want it`() async throws {
    try await withWorld { world in
      _ = world.app { $0.enableSessionMultiplexing = false }
      #expect(!world.app().configuration.enableSessionMultiplexing)
      let user = try await world.user()
      let realms = try (0..<5).map { _ in try opened(user.notes(at: world.file())) }
      try await eventually { try await world.metric("channels") == 5 }
      #expect(try await world.metric("connections") == 5)
      try realms[0].write { realms[0].add(Note(1)) }
      for realm in realms { try await eventually(in: realm) { realm.noteIDs == [1] } }
    }
  }

  @Test func `a connection ends some time after its last session`() async throws {
    try await withWorld { world in
      _ = world.app { $0.syncTimeouts = SyncTimeoutOptions(connectionLingerTime: 3000) }
      let user = try await world.user()
      let realm = try await opened(user.notes(), .once)
      try realm.sync().suspend()
      try await eventually { try await world.metric("channels") == 0 }
      #expect(try await world.metric("connections") == 1)
      try await eventually { try await world.metric("connections") == 0 }
      withExtendedLifetime(realm) {}
    }
  }
}
