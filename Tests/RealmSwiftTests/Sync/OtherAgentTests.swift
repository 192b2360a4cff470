import Foundation
import RealmStorage
import Synchronization
import Testing

@testable import RealmSwift

private class AgentNote: Object {
  @Persisted(primaryKey: true) var id: Int

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Tests in which another process also has a synced file open. A second handle plays that process.
@Suite(.timeLimit(.minutes(1))) @MainActor struct OtherAgentTests {
  let world = AppWorld()

  /// The collected values, in their order.
  private final class Collected<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    var all: [Value] { values.withLock { $0 } }
    func add(_ value: Value) { values.withLock { $0.append(value) } }
  }

  /// Waits until a condition holds. If it never does, the time limit of the suite ends the test.
  private func until(_ isTrue: () throws -> Bool) async throws {
    while try !isTrue() { try await Task.sleep(for: .milliseconds(5)) }
  }

  /// Calls `body` with an app whose server can't be reached, the configuration of a user's file, and the file as
  /// another process has it open.
  private func withFile(
    _ body: @MainActor (App, Realm.Configuration, Database) async throws -> Void
  ) async throws {
    world.server.leadNowhere()
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    var configuration = user.configuration(partitionValue: "north")
    configuration.objectTypes = [AgentNote.self]
    var options = DatabaseOptions()
    options.history = .synced
    let other = try Database(path: configuration.url.path, options: options)
    try await body(app, configuration, other)
    other.close()
    for session in user.allSessions { session.suspend() }
  }

  private func download(_ configuration: Realm.Configuration) async throws {
    _ = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
  }

  private func write(_ id: Int64, _ database: Database) throws {
    try database.write { transaction in
      _ = try transaction.table("AgentNote")?.insert(["id": .int(id)])
    }
  }

  @Test func `an app hears that another process has the session, and gets the session when that one ends`()
    async throws
  {
    try await withFile { app, configuration, other in
      #expect(try other.becomeSyncAgent())
      let errors = Collected<(any Swift.Error)>()
      app.syncManager.errorHandler = { error, session in
        if session != nil { errors.add(error) }
      }
      let realm = try opened(configuration)
      let session = try #require(realm.syncSession)
      let states = Collected<SyncSession.ConnectionState>()
      let token = session.observe(\.connectionState, options: [.new]) { _, change in
        if let state = change.newValue { states.add(state) }
      }
      try await until { !errors.all.isEmpty }
      let error = errors.all[0] as? Realm.Error
      #expect(error?.code == .multipleSyncAgents)
      #expect(error?.localizedDescription.contains(configuration.url.path) == true)
      #expect(session.state == .active && states.all.isEmpty)
      await #expect(throws: Realm.Error.self) { try await session.wait(for: .download) }
      await #expect(throws: Realm.Error.self) { try await download(configuration) }
      try realm.write { realm.create(AgentNote.self, value: ["id": 1]) }
      #expect(try other.snapshot().table("AgentNote")?.count == 1)
      // A killed process leaves the file in this state.
      other.close()
      try await until { states.all.contains(.connecting) }
      token.invalidate()
      withExtendedLifetime(realm) {}
    }
  }

  @Test func `a realm moves to the commits of another process, and its session looks at them`() async throws {
    try await withFile { _, configuration, other in
      let realm = try opened(configuration)
      let notes = realm.objects(AgentNote.self)
      #expect(notes.isEmpty)
      for id in 1...3 {
        try write(Int64(id), other)
        // The realm moves without a refresh.
        try await until { notes.count == id }
      }
      withExtendedLifetime(realm) {}
    }
  }
}
