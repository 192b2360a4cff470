import Foundation
import RealmSwift

final class Item: Object {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted var text = ""
}

/// Brings a file up to date within some seconds: for a process that a timer wakes, and that may not run for long.
@main
@MainActor
struct BriefSync {
  static func main() async throws {
    let settings = AppConfiguration(baseURL: "http://localhost:8080")
    settings.rootDirectory = URL(fileURLWithPath: CommandLine.arguments.dropFirst().first ?? "device")
    let app = App(id: "dev", configuration: settings)
    let user = try await app.login(credentials: .anonymous)
    var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
      subscriptions.append(QuerySubscription<Item>(name: "all"))
    })
    configuration.objectTypes = [Item.self]
    let isDone = try await sync(configuration, within: .seconds(20))
    print(isDone ? "The file and the server have the same." : "Time is up. The rest goes on the next time.")
  }

  /// Uploads what waits in a file, downloads what the server has, and disconnects.
  ///
  /// - Returns: false where the time was not enough. What has been transferred until then stays.
  /// - Throws: `SyncError` where the session ends before, since the user is logged out, say.
  static func sync(_ configuration: Realm.Configuration, within limit: Duration) async throws -> Bool {
    // It opens with what is in the file, also without a network.
    let realm = try await Realm(configuration: configuration)
    guard let session = realm.syncSession else { return true }
    // It is suspended where this process did the same before.
    session.resume()
    defer {
      session.suspend()
      // The session lasts as long as a realm of its file is in use.
      withExtendedLifetime(realm) {}
    }
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await session.wait(for: .upload)
        try await session.wait(for: .download)
        return true
      }
      group.addTask {
        try await Task.sleep(for: limit)
        return false
      }
      // Whichever ends first, the other one is not waited for.
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
  }
}
