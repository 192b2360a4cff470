import Dispatch
import Foundation
import RealmSwift
import Testing

/// Code of the guides, in the order of its calls.
@Suite(.timeLimit(.minutes(3))) @MainActor struct SampleTests {
  /// Calls `body` with a world whose partition has two plots.
  private func withPlots(
    _ body: @MainActor (SyncWorld, App) async throws -> Void
  ) async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let realm = try opened(try await world.user().plots(in: "some partition value"))
      try realm.addPlots(1...2)
      try await realm.upload()
      try await body(world, world.app())
    }
  }

  // MARK: - Opening

  @Test func `a user logs in, and a realm opens with the objects of the device`() async throws {
    try await withPlots { _, app in
      let counts = Calls<Int>()
      app.login(credentials: Credentials.anonymous) { result in
        switch result {
        case .failure: counts.add(-1)
        case .success(let user):
          var configuration = user.configuration(partitionValue: "some partition value")
          configuration.objectTypes = [TextPlot.self]
          DispatchQueue.main.async { [configuration] in
            guard let realm = try? Realm(configuration: configuration) else { return counts.add(-1) }
            counts.add(realm.objects(TextPlot.self).count)
          }
        }
      }
      let first = try await counts.first()
      #expect(first >= 0)
      #expect(app.currentUser?.isLoggedIn == true)
    }
  }

  @Test func `a user logs in, and a realm opens after a download`() async throws {
    try await withPlots { _, app in
      let counts = Calls<Int>()
      app.login(credentials: Credentials.anonymous) { result in
        guard case .success(let user) = result else { return counts.add(-1) }
        var configuration = user.configuration(partitionValue: "some partition value")
        configuration.objectTypes = [TextPlot.self]
        Realm.asyncOpen(configuration: configuration) { result in
          switch result {
          case .failure: counts.add(-1)
          case .success(let realm): counts.add(realm.objects(TextPlot.self).count)
          }
        }
      }
      let first = try await counts.first()
      #expect(first == 2)
    }
  }

  @Test func `a realm of a user who is logged in opens with a download or offline`() async throws {
    try await withPlots { world, app in
      _ = try await world.anonymous()
      let user = try #require(app.currentUser)
      var configuration = user.configuration(partitionValue: "some partition value")
      configuration.objectTypes = [TextPlot.self]
      let counts = Calls<Int>()
      Realm.asyncOpen(configuration: configuration) { @Sendable result in
        counts.add((try? result.get().objects(TextPlot.self).count) ?? -1)
      }
      let first = try await counts.first()
      #expect(first == 2)
      await world.stop()
      let cached = try #require(app.currentUser)
      #expect(cached === user)
      let realm = try await Realm(configuration: configuration)
      #expect(realm.plotIDs == [1, 2])
    }
  }

  @Test func `a realm opens with await, with a download each time`() async throws {
    try await withPlots { world, app in
      let user = try await app.login(credentials: Credentials.anonymous)
      var configuration = user.configuration(partitionValue: "some partition value")
      configuration.objectTypes = [TextPlot.self]
      let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
      #expect(realm.plotIDs == [1, 2])
      let again = try await Realm(configuration: configuration)
      #expect(again.syncSession === realm.syncSession)
      #expect("\(again)".isEmpty == false)
    }
  }

  @Test func `a realm opens with initial subscriptions`() async throws {
    try await withPlots { _, app in
      let user = try await app.login(credentials: Credentials.anonymous)
      var configuration = user.flexibleSyncConfiguration()
      configuration.objectTypes = [TextPlot.self]
      let realm = try await Realm(configuration: configuration)
      #expect(realm.isEmpty)
      let subscriptions = realm.subscriptions
      try await subscriptions.update {
        subscriptions.append(QuerySubscription<TextPlot> { $0.area == "some partition value" })
      }
      #expect(realm.plotIDs == [1, 2])
    }
  }

  // MARK: - A session

  @Test func `a session is suspended and resumed, and its progress and connection are observed`() async throws
  {
    try await withPlots { world, app in
      let user = try await world.anonymous()
      let realm = try await opened(user.plots(in: "some partition value"), .always)
      let syncSession = realm.syncSession!
      syncSession.suspend()
      #expect(syncSession.state == .inactive)
      try realm.addPlots(10...20)
      let progress = Calls<Double>()
      let token = syncSession.addProgressNotification(for: .upload, mode: .forCurrentlyOutstandingWork) {
        progress.add($0.progressEstimate)
      }
      let states = Calls<SyncSession.ConnectionState>()
      let observer = syncSession.observe(\.connectionState, options: [.initial]) { session, _ in
        states.add(session.connectionState)
      }
      #expect(states.count == 1)
      syncSession.resume()
      try await eventually { progress.all.last == 1 && states.all.last == .connected }
      #expect(app.allUsers.count == 2)
      token?.invalidate()
      observer.invalidate()
    }
  }

  @Test func `an error handler is called, and the files of a configuration are deleted`() async throws {
    try await withPlots { world, app in
      let told = Calls<String>()
      app.syncManager.errorHandler = { error, session in
        guard let error = error as? SyncError else { return }
        switch error.code {
        case .writeRejected: told.add("rejected, in \(session?.parentUser()?.id ?? "nothing")")
        default: told.add("\(error.code)")
        }
      }
      let user = try await world.anonymous()
      var configuration = user.plots(in: "another partition value")
      configuration.objectTypes = [TextPlot.self]
      do {
        let realm = try await opened(configuration, .always)
        // Another partition has an object with this key.
        try realm.addPlots(1...1)
        #expect(try await told.first() == "rejected, in \(user.id)")
        withExtendedLifetime(realm) {}
      }
      do {
        #expect(try Realm.deleteFiles(for: configuration))
      } catch {
        Issue.record(error)
      }
      #expect(!Realm.fileExists(for: configuration))
    }
  }

  @Test func `a partition of the current user is opened and printed`() async throws {
    try await withPlots { world, app in
      _ = try await world.anonymous()
      let user = app.currentUser
      let partitionValue = "some partition value"
      var configuration = user!.configuration(partitionValue: partitionValue)
      configuration.objectTypes = [TextPlot.self]
      let syncedRealm = try opened(configuration)
      #expect(!"Successfully opened the synced realm: \(syncedRealm)".isEmpty)
      try await eventually(in: syncedRealm) { syncedRealm.plotIDs == [1, 2] }
    }
  }
}
