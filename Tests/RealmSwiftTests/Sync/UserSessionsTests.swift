import Foundation
import RealmSyncClient
import Synchronization
import Testing

@testable import RealmSwift

/// The sessions of a user whose server can't be reached.
@Suite(.timeLimit(.minutes(3))) struct UserSessionsTests {
  let world = AppWorld()

  private func memory(_ user: User, _ number: Int) -> Realm.Configuration {
    var configuration = user.offlineNotes()
    configuration.inMemoryIdentifier = "\(world.id) \(number)"
    return configuration
  }

  @Test func `a user with more files than a WebSocket may have channels gets another one`() async throws {
    let user = try await world.lastingApp().login(credentials: AppWorld.ann)
    let sessions = UserSessions.of(user)
    var files: [OpenFile] = []
    for number in 0..<SyncConnection.mostMembers { files.append(try OpenFile(memory(user, number))) }
    #expect(sessions.all.count == 100 && sessions.connections.count == 1)
    files.append(try OpenFile(memory(user, 100)))
    #expect(sessions.connections.count == 2)
    // The next file takes the channel of a file that is closed.
    try await files.removeFirst().close()
    for number in 101..<110 { files.append(try OpenFile(memory(user, number))) }
    #expect(sessions.all.count == 109 && sessions.connections.count == 2)
    for file in files { try await file.close() }
    #expect(sessions.all.isEmpty)
  }

  @Test func `the app hears once that a proxy before the server lets no client in`() async throws {
    let app = world.lastingApp()
    let user = try await app.login(credentials: AppWorld.ann)
    let told = Mutex<[SyncError.Code]>([])
    app.syncManager.errorHandler = { error, _ in
      if let error = error as? SyncError { told.withLock { $0.append(error.code) } }
    }
    let file = try OpenFile(user.offlineNotes())
    let (session, core) = (file.session, file.session.core)
    core.inTurn {
      for _ in 0..<3 { session.file(core, lost: .barred(status: 403)) }
      // A problem that goes away without the app is not reported.
      session.file(core, lost: .network(.unreachable("Nobody listens.")))
      session.file(core, lost: .barred(status: 403))
    }
    try await until("the error") { told.withLock { $0 } == [.connectionFailed] }
    #expect(user.isLoggedIn && session.state == .active)
    core.inTurn {
      session.fileDidChange(core)
      session.file(core, lost: .barred(status: 403))
      session.file(core, downloaded: 1, of: 1, querySet: 1)
      session.file(core, lost: .barred(status: 403))
    }
    try await until("the next error") { told.withLock { $0.count } == 2 }
    try await file.close()
  }
}
