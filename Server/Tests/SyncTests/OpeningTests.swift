import Dispatch
import Foundation
import RealmSwift
import Testing

@Suite(.timeLimit(.minutes(3))) @MainActor struct OpeningTests {
  @Test func `a realm opens without a network, and its changes are uploaded later`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      do {
        let realm = try await opened(users[0].notes(), .once)
        try realm.write { realm.add(Note(1)) }
        try await realm.upload()
      }
      await world.stop()
      do {
        let realm = try opened(users[0].notes())
        #expect(realm.noteIDs == [1])
        try realm.write { realm.add(Note(2)) }
      }
      let realm = try opened(users[0].notes())
      #expect(realm.noteIDs == [1, 2])
      try await world.restart()
      try realm.sync().reconnect()
      let other = try opened(users[1].notes())
      try await eventually(in: other) { other.noteIDs == [1, 2] }
      withExtendedLifetime(realm) {}
    }
  }

  // MARK: - Never, once and always

  @Test func `without a download a realm opens with the objects of the device, even without a server`()
    async throws
  {
    try await withWorld { world in
      let user = try await world.user()
      await world.stop()
      let realm = try await opened(user.notes(), .never)
      #expect(realm.noteIDs.isEmpty)
      #expect(try realm.sync().state == .active)
      try realm.write { realm.add(Note(1)) }
      #expect(realm.noteIDs == [1])
    }
  }

  @Test func `a file that is downloaded once opens with the objects of the server, and later offline`()
    async throws
  {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...3)
      do {
        let realm = try await opened(users[1].notes(), .once)
        #expect(realm.noteIDs == [1, 2, 3])
      }
      await world.stop()
      let realm = try await opened(users[1].notes(), .once)
      #expect(realm.noteIDs == [1, 2, 3])
    }
  }

  @Test func `a realm that is always downloaded opens with all objects of the server`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...1)
      let realm = try await opened(users[1].notes(), .always)
      #expect(realm.noteIDs == [1])
      for id in 2...5 {
        try await users[0].uploadNotes(id...id)
        let again = try await opened(users[1].notes(), .always)
        #expect(again.noteIDs == Array(1...id))
      }
      withExtendedLifetime(realm) {}
    }
  }

  @Test func `a download before an open waits without a network until it is cancelled`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      await world.stop()
      let configuration = user.notes()
      let ends = Calls<Bool>()
      let opening = Task { @MainActor in
        defer { ends.add(true) }
        _ = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
      }
      try await Task.sleep(for: .milliseconds(300))
      #expect(ends.count == 0)
      opening.cancel()
      await #expect(throws: CancellationError.self) { try await within { try await opening.value } }
    }
  }

  @Test
  func `a download on each open resumes the suspended session of an open realm, and no other open does`()
    async throws
  {
    try await withWorld { world in
      let users = try await world.users(2)
      let realm = try await opened(users[1].notes(), .once)
      let session = try realm.sync()
      session.suspend()
      try await users[0].uploadNotes(1...1)
      for behavior in [Realm.OpenBehavior.never, .once] {
        let again = try await opened(users[1].notes(), behavior)
        #expect(again.noteIDs.isEmpty, "\(behavior)")
        #expect(session.state == .inactive, "\(behavior)")
      }
      #expect(try opened(users[1].notes()).noteIDs.isEmpty)
      #expect(session.state == .inactive)
      let again = try await opened(users[1].notes(), .always)
      #expect(again.noteIDs == [1])
      #expect(session.state == .active)
      withExtendedLifetime(realm) {}
    }
  }

  @Test func `a realm without sync opens at once, whatever behavior is asked for`() async throws {
    try await withWorld { world in
      let configuration = Realm.Configuration(fileURL: world.file(), objectTypes: [Note.self])
      for behavior in [Realm.OpenBehavior.never, .once, .always] {
        let realm = try await opened(configuration, behavior)
        #expect(realm.syncSession == nil, "\(behavior)")
      }
    }
  }

  // MARK: - With a callback

  @Test func `a callback gets a realm of its queue, with the objects of the server`() async throws {
    try await withWorld { world in
      let users = try await world.users(3)
      try await users[0].uploadNotes(1...2)
      let ids = Calls<[Int]>()
      let queue = DispatchQueue(label: "opening")
      Realm.asyncOpen(configuration: users[1].notes(), callbackQueue: queue) { @Sendable result in
        dispatchPrecondition(condition: .onQueue(queue))
        ids.add((try? result.get().noteIDs) ?? [])
      }
      #expect(try await ids.first() == [1, 2])
      let onMain = Calls<[Int]>()
      Realm.asyncOpen(configuration: users[2].notes()) { @Sendable result in
        dispatchPrecondition(condition: .onQueue(.main))
        onMain.add((try? result.get().noteIDs) ?? [])
      }
      #expect(try await onMain.first() == [1, 2])
    }
  }

  @Test func `the progress of an open rises to 1`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...50, text: noise(2000))
      let (results, progress) = (Calls<Bool>(), Calls<Double>())
      let task = Realm.asyncOpen(configuration: users[1].notes()) { @Sendable result in
        results.add((try? result.get()) != nil)
      }
      task.addProgressNotification { @Sendable update in progress.add(update.progressEstimate) }
      #expect(try await results.first())
      try await eventually { progress.all.last == 1 }
      #expect(rises(progress.all), "\(progress.all)")
    }
  }

  // MARK: - Cancelling

  @Test func `an open that is cancelled gives no realm, and other opens of the file continue`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...1)
      await world.stop()
      let configuration = users[1].notes()
      let (cancelled, kept) = (Calls<NSError?>(), Calls<[Int]>())
      let task = Realm.asyncOpen(configuration: configuration) { @Sendable result in
        if case .failure(let error) = result { cancelled.add(error as NSError) } else { cancelled.add(nil) }
      }
      Realm.asyncOpen(configuration: configuration) { @Sendable result in
        kept.add((try? result.get().noteIDs) ?? [])
      }
      try await Task.sleep(for: .milliseconds(100))
      task.cancel()
      try await world.restart()
      for session in users[1].allSessions { session.reconnect() }
      #expect(try await kept.first() == [1])
      let error = try #require(try await cancelled.first())
      #expect(error.domain == NSPOSIXErrorDomain && error.code == Int(ECANCELED))
      #expect(cancelled.count == 1)
    }
  }

  @Test func `if two tasks open a file, the task that is not cancelled gets the realm`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...1)
      await world.stop()
      let configuration = users[1].notes()
      let open: @Sendable @MainActor () async throws -> [Int] = {
        try await Realm(configuration: configuration, downloadBeforeOpen: .always).noteIDs
      }
      let (cancelled, kept) = (Task { try await open() }, Task { try await open() })
      try await Task.sleep(for: .milliseconds(100))
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { _ = try await within { try await cancelled.value } }
      try await world.restart()
      for session in users[1].allSessions { session.reconnect() }
      let ids = try await within { try await kept.value }
      #expect(ids == [1])
    }
  }

  @Test func `a task that is cancelled at any moment of an open ends`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...20)
      let configuration = users[1].notes()
      for delay in 0..<20 {
        let opening = Task { @MainActor in
          _ = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
        }
        try await Task.sleep(for: .milliseconds(delay))
        opening.cancel()
        do {
          try await within { try await opening.value }
        } catch is CancellationError {}
      }
      let realm = try await opened(configuration, .always)
      #expect(realm.noteIDs == Array(1...20))
    }
  }

  // MARK: - Errors

  @Test func `an open that must fail without a network fails soon when the server is down`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      await world.stop()
      let configuration = user.notes(failsOffline: true)
      #expect(configuration.syncConfiguration?.cancelAsyncOpenOnNonFatalErrors == true)
      let begin = ContinuousClock.now
      let error = await #expect(throws: SyncError.self) { _ = try await opened(configuration, .always) }
      #expect(error?.code == .connectionFailed)
      let codes = Calls<SyncError.Code?>()
      Realm.asyncOpen(configuration: configuration) { @Sendable result in
        guard case .failure(let error) = result else { return codes.add(nil) }
        codes.add((error as? SyncError)?.code)
      }
      #expect(try await codes.first() == .connectionFailed)
      #expect(ContinuousClock.now - begin < .seconds(10))
      // Without a download the realm still opens.
      #expect(try opened(configuration).noteIDs.isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func `each open fails without a network or waits for one, by its own configuration`(
    isFirstToFail: Bool
  ) async throws {
    try await withWorld { world in
      let user = try await world.user()
      await world.stop()
      let (waiting, failing) = (user.notes(), user.notes(failsOffline: true))
      // The configuration of the first open does not count.
      let realm = try opened(isFirstToFail ? failing : waiting)
      let ends = Calls<Bool>()
      Realm.asyncOpen(configuration: waiting) { @Sendable result in ends.add((try? result.get()) != nil) }
      let error = await #expect(throws: SyncError.self) { _ = try await opened(failing, .always) }
      #expect(error?.code == .connectionFailed)
      #expect(ends.count == 0)
      try await world.restart()
      try realm.sync().reconnect()
      #expect(try await ends.first())
    }
  }

  @Test func `an open that must fail without a network succeeds when there is one`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...1)
      let realm = try await opened(users[1].notes(failsOffline: true), .always)
      #expect(realm.noteIDs == [1])
    }
  }

  @Test func `an open that must fail without a network reports that a server did not answer in time`()
    async throws
  {
    try await withWorld { world in
      let proxy = try await SyncProxy.start(for: world.port)
      _ = world.app {
        $0.baseURL = proxy.address
        $0.syncTimeouts = SyncTimeoutOptions(connectTimeout: 2000)
      }
      let user = try await world.user()
      proxy.mute(true)
      let configuration = user.notes(failsOffline: true)
      let error = await #expect(throws: (any Error).self) { _ = try await opened(configuration, .always) }
      let plain = try #require(error) as NSError
      #expect(plain.domain == NSPOSIXErrorDomain && plain.code == Int(ETIMEDOUT), "\(plain)")
      proxy.mute(false)
      // If the machine is busy, an answer may take longer than the limit here.
      var answered: Realm?
      for _ in 0..<20 where answered == nil { answered = try? await opened(configuration, .always) }
      let realm = try #require(answered)
      #expect(realm.noteIDs.isEmpty)
      await proxy.stop()
    }
  }
}
