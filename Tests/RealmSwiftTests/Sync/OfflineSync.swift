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
  /// The app that the whole program shares. It stays until the process ends, because sessions may end later than a
  /// test. Users can log in to it, but nothing listens at the address of its sessions.
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
  /// The configuration of a file that asks for all notes.
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

/// A file that is kept open as a realm keeps it, on whatever thread a test continues.
struct OpenFile {
  let hold: RealmFile.Hold
  let session: SyncSession

  /// - Parameter notes: The number of notes that are written.
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

  /// Releases the file, and waits until nothing has it open.
  func close() async throws {
    hold.end()
    session.suspend()
    try await until("the end of a session") { session.state == .invalid }
  }
}

/// Waits until a condition holds, for a minute at most.
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
