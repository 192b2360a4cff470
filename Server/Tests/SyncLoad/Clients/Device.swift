import Foundation
import RealmSwift
import SyncPrograms

/// An app with its own folder of files, as on one device.
@MainActor
final class Device {
  let app: App

  /// - Parameter sharesConnections: True if all files of a user have one connection.
  init(_ options: ClientOptions, sharesConnections: Bool = true) {
    // A session that is suspended leaves no connection open, and connects again when it continues.
    let settings = AppConfiguration(
      baseURL: options.server, enableSessionMultiplexing: sharesConnections,
      syncTimeouts: SyncTimeoutOptions(connectionLingerTime: 0))
    settings.rootDirectory = URL(fileURLWithPath: options.folder, isDirectory: true)
    app = App(id: "dev", configuration: settings)
    app.syncManager.errorHandler = { error, _ in fail(error.localizedDescription) }
  }

  /// Opens the file of a user when it has all objects of the server.
  func open(_ user: User, _ content: Content) async throws -> (realm: Realm, session: SyncSession) {
    let realm = try await Realm(configuration: user.configuration(of: content), downloadBeforeOpen: .once)
    guard let session = realm.syncSession else { fail("A realm that was opened has no session.") }
    return (realm, session)
  }
}

extension User {
  /// The configuration of a file that asks for all objects of some classes.
  func configuration(of content: Content) -> Realm.Configuration {
    var configuration = flexibleSyncConfiguration(initialSubscriptions: { content.subscribe($0) })
    configuration.objectTypes = content.types
    return configuration
  }
}
