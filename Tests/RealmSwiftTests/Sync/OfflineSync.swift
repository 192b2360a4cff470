import Foundation
import Synchronization
import Testing

@testable import RealmSwift

/// A class of synced files whose server can't be reached.
class OfflineNote: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text = ""

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension AppWorld {
  /// The app as all of a program has it. It stays until the process ends, since sessions may end later than a test. Users log in to it, and nobody
  /// listens where their sessions connect to.
  func lastingApp() -> App {
    server.state.withLock {
      $0.location = #"{"hostname": "https://sync.test", "ws_hostname": "wss://127.0.0.1:1"}"#
    }
    let configuration = AppConfiguration(baseURL: "https://sync.test", transport: server)
    configuration.rootDirectory = root
    return App.registered(id, configuration)
  }
}

extension User {
  /// The configuration of a file that has all notes.
  func offlineNotes(
    failsOffline: Bool = false, resets mode: ClientResetMode = .recoverUnsyncedChanges()
  ) -> Realm.Configuration {
    var configuration = flexibleSyncConfiguration(
      clientResetMode: mode, cancelAsyncOpenOnNonFatalErrors: failsOffline,
      initialSubscriptions: { subscriptions in subscriptions.append(QuerySubscription<OfflineNote>()) })
    configuration.objectTypes = [OfflineNote.self]
    return configuration
  }
}

/// A file that stays open, as by a realm, whatever thread a test goes on in.
struct OpenFile {
  let hold: RealmFile.Hold
  let session: SyncSession

  /// - Parameter notes: so many are written.
  init(_ configuration: Realm.Configuration, notes: Int = 0) throws {
    let realm = try Realm(configuration: configuration)
    if notes > 0 {
      try realm.write {
        for id in 1...notes {
          realm.create(OfflineNote.self, value: ["id": id, "text": "note \(id)"] as [String: Any])
        }
      }
    }
    let hold = realm.session.file.hold()
    self.hold = hold
    session = try #require(hold.file.sync as? SyncSession)
  }

  /// Lets go of it, and waits until nothing has it open.
  func close() async throws {
    hold.end()
    session.suspend()
    try await until("the end of a session") { session.state == .invalid }
  }
}

/// Waits until something holds, for a minute at most.
func until(
  _ what: String, at place: SourceLocation = #_sourceLocation, _ isTrue: () throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(60)
  while try !isTrue() {
    guard ContinuousClock.now < end else {
      Issue.record("This did not come within a minute: \(what).", sourceLocation: place)
      throw CancellationError()
    }
    try await Task.sleep(for: .milliseconds(5))
  }
}
