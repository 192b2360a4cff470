import Dispatch
import Foundation
import RealmSyncClient
import Testing

@testable import RealmSwift

/// Waits for a session that are withdrawn. They leave nothing behind in the session.
@Suite(.timeLimit(.minutes(3))) struct WithdrawnWaitTests {
  let world = AppWorld()

  /// An open file that has a change that no server has.
  private func begun() async throws -> (OpenFile, Realm.Configuration) {
    let user = try await world.lastingApp().login(credentials: AppWorld.ann)
    let configuration = user.offlineNotes()
    return (try OpenFile(configuration, notes: 1), configuration)
  }

  /// Begins waits, cancels them once the session knows them, and waits until they end.
  private func cancelled(_ tasks: [Task<Void, any Error>], _ session: SyncSession) async throws {
    try await until("the waits") { session.core.countOfWaits == tasks.count }
    for task in tasks { task.cancel() }
    for task in tasks {
      guard case .failure(let error) = await task.result else {
        Issue.record("a cancelled wait has succeeded")
        continue
      }
      #expect(error is CancellationError)
    }
    try await until("the end of the waits") { session.core.countOfWaits == 0 }
  }

  @Test func `waits of cancelled tasks do not pile up`() async throws {
    let (file, configuration) = try await begun()
    let session = file.session
    for _ in 0..<5 {
      try await cancelled(
        [
          Task { try await session.wait(for: .download) },
          Task { try await session.wait(for: .upload) },
          Task { try await SubscriptionWait.wait(1, session) },
          Task { @MainActor in
            _ = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
          },
        ], session)
    }
    try await file.close()
  }

  @Test func `a wait for a subscription is withdrawn after its timeout`() async throws {
    let (file, _) = try await begun()
    let session = file.session
    let error = await #expect(throws: (any Error).self) {
      try await SubscriptionWait.wait(1, session, timeout: 0.01)
    }
    let plain = try #require(error) as NSError
    #expect(plain.domain == NSPOSIXErrorDomain && plain.code == Int(ETIMEDOUT))
    try await until("the end of the wait") { session.core.countOfWaits == 0 }
    try await file.close()
  }

  @Test func `an open that is cancelled withdraws its wait`() async throws {
    let (file, configuration) = try await begun()
    let session = file.session
    let queue = DispatchQueue(label: "withdrawn")
    for _ in 0..<5 {
      let task = Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { @Sendable _ in }
      try await until("the wait") { session.core.countOfWaits == 1 }
      task.cancel()
      try await until("the end of the wait") { session.core.countOfWaits == 0 }
    }
    try await file.close()
  }
}
