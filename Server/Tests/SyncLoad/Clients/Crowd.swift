import Foundation
import RealmSwift
import SyncPrograms

/// Many clients that do nothing. Each is a realm in memory, with a session and a connection of its own.
///
/// It takes keys of users, for each of which it opens some realms, then `end`, and from then on any order asks how many are connected.
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

  /// Not async, so that the realm opens at once.
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
