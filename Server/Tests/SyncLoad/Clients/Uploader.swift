import Foundation
import RealmSwift
import SyncPrograms

/// Writes objects while it has no connection. It connects at the first order, and reports the time until the server has
/// the objects.
@MainActor
final class Uploader {
  private let options: ClientOptions

  init(_ options: ClientOptions) { self.options = options }

  func run() async throws {
    let device = Device(options)
    let user = try await device.app.login(credentials: .anonymous)
    let (realm, session) = try await device.open(user, options.content)
    session.suspend()
    try write(to: realm)
    guard session.connectionState == .disconnected else { fail("A session that was suspended is connected.") }
    say("ready")
    _ = await Orders.next()
    let start = ContinuousClock.now
    session.resume()
    try await session.wait(for: .upload)
    say("uploaded \((ContinuousClock.now - start) / .seconds(1))")
    _ = await Orders.next()
    withExtendedLifetime(realm) {}
  }

  private func write(to realm: Realm) throws {
    for start in stride(from: 0, to: options.objects, by: options.commit) {
      try realm.write {
        for number in start..<min(options.objects, start + options.commit) {
          realm.add(options.content.object(number))
        }
      }
    }
  }
}
