import Foundation
import Synchronization
import Testing

@testable import RealmSwift

private class ReadPage: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Synced realms that are opened read-only, without a server.
@Suite struct ReadOnlySyncTests {
  let world = AppWorld()

  private func expectReadOnly(_ user: User) throws {
    var configuration = user.flexibleSyncConfiguration()
    (configuration.objectTypes, configuration.readOnly) = ([ReadPage.self], true)
    let realm = try opened(configuration)
    #expect(realm.objects(ReadPage.self).isEmpty && Realm.fileExists(for: configuration))
    MisuseTests().expectStop(["Read-only realm", "readOnly = true"]) { [configuration] in
      try Realm(configuration: configuration).write {}
    }
  }

  @Test func `a read-only open makes a missing file, which the program can't write`() async throws {
    world.server.leadNowhere()
    let app = world.app()
    try expectReadOnly(await app.login(credentials: AppWorld.ann))
    withExtendedLifetime(app) {}
  }
}

extension FakeServer {
  /// Gives an address for sync at which nothing listens.
  func leadNowhere() {
    state.withLock { state in
      state.location = #"{"hostname": "https://sync.test", "ws_hostname": "wss://127.0.0.1:1"}"#
    }
  }
}
