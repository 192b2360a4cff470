import Foundation
import RealmSwift

final class Item: Object, Codable {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted var owner = ""
  @Persisted var text = ""
  @Persisted var done = false
}

/// Reads items from standard input, one JSON object on each line, and brings them to a server. It may be run again: what is
/// the same there already is not written.
@main
@MainActor
struct ImportItems {
  static func main() async throws {
    let environment = ProcessInfo.processInfo.environment
    let settings = AppConfiguration(baseURL: environment["REALM_SERVER"] ?? "http://localhost:8080")
    settings.rootDirectory = URL(fileURLWithPath: "import")
    let app = App(id: environment["REALM_APP"] ?? "tasks", configuration: settings)
    app.syncManager.errorHandler = { error, _ in print(error.localizedDescription) }
    let user = try await app.login(credentials: .serverAPIKey(environment["REALM_KEY"] ?? ""))

    var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
      subscriptions.append(QuerySubscription<Item>(name: "all"))
    })
    configuration.objectTypes = [Item.self]
    let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .once)

    // A transaction takes memory in proportion to its objects.
    let decoder = JSONDecoder()
    var batch: [Item] = []
    var count = 0
    while let line = readLine() {
      batch.append(try decoder.decode(Item.self, from: Data(line.utf8)))
      count += 1
      if batch.count == 1000 {
        try realm.write { realm.add(batch, update: .modified) }
        batch = []
      }
    }
    try realm.write { realm.add(batch, update: .modified) }

    try await realm.syncSession?.wait(for: .upload)
    realm.refresh()
    print("\(count) items were read. The server has \(realm.objects(Item.self).count) now.")
  }
}
