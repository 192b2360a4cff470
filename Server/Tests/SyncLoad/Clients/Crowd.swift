import Foundation
import RealmSwift
import SyncPrograms

/// Many clients that do nothing. Each is a realm in memory with its own session and connection.
///
/// The crowd takes keys of users, and opens some realms for each of them. After the order `end`, each further order
/// asks how many realms are connected.
@MainActor
final class Crowd {
  private let options: ClientOptions
  private var realms: [Realm] = []

  init(_ options: ClientOptions) { self.options = options }

  func run() async throws {
    let device = Device(options, sharesConnections: false)
    while true {
      let key = await Orders.next()
      if key == "end" { break }
      try await open(device.app.login(credentials: .serverAPIKey(key)))
    }
    while true {
      let connected = realms.count { $0.syncSession?.connectionState == .connected }
      say("connected \(connected)")
      _ = await Orders.next()
    }
  }

  /// Opens a realm at once. The function is not async, because an async function can only open a realm with await.
  private func open(_ configuration: Realm.Configuration) throws -> Realm {
    try Realm(configuration: configuration)
  }

  private func open(_ user: User) async throws {
    var opened: [Realm] = []
    for number in 0..<options.objects {
      var configuration = user.configuration(of: options.content)
      configuration.inMemoryIdentifier = "\(user.id) \(number)"
      opened.append(try open(configuration))
    }
    realms += opened
    for realm in opened { try await realm.syncSession?.wait(for: .download) }
  }
}
