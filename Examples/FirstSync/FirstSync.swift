import Foundation
import RealmSwift

final class Item: Object {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted var text = ""
}

@main
@MainActor
struct FirstSync {
  static func main() async throws {
    // Each folder stands for a device, with a user of its own.
    let settings = AppConfiguration(baseURL: "http://localhost:8080")
    settings.rootDirectory = URL(fileURLWithPath: CommandLine.arguments.dropFirst().first ?? "device")
    let app = App(id: "dev", configuration: settings)
    let user = try await app.login(credentials: .anonymous)

    // The device is to have all items.
    var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
      subscriptions.append(QuerySubscription<Item>(name: "all"))
    })
    configuration.objectTypes = [Item.self]
    let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .once)

    // The list is printed now, and whenever somebody has changed it.
    let items = realm.objects(Item.self).sorted(byKeyPath: "text")
    let token = items.observe { _ in
      let texts = Array(items.map(\.text))
      print("Items:", texts.joined(separator: ", "))
    }

    // Each line is a new item, except for two words.
    for await line in typedLines() {
      switch line {
      case "offline": realm.syncSession?.suspend()
      case "online": realm.syncSession?.resume()
      default: try realm.write { realm.create(Item.self, value: ["text": line]) }
      }
    }
    token.invalidate()
  }
}

/// Lines from the terminal. A thread of its own waits for them, so that the main actor is free.
func typedLines() -> AsyncStream<String> {
  AsyncStream { continuation in
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
  }
}
