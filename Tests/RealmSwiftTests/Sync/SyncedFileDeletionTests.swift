import Foundation
import RealmStorage
import Testing

@testable import RealmSwift

/// Synced files that an app deletes, or that errors move away, without a server.
@Suite(.timeLimit(.minutes(3))) struct SyncedFileDeletionTests {
  let world = AppWorld()

  /// A file with changes that no server has, which is not open.
  private func changed(
    _ change: (inout Realm.Configuration) -> Void = { _ in }
  ) async throws -> Realm.Configuration {
    let user = try await world.lastingApp().login(credentials: AppWorld.ann)
    var configuration = user.offlineNotes()
    change(&configuration)
    try await OpenFile(configuration, notes: 2).close()
    return configuration
  }

  private func plain(_ configuration: Realm.Configuration) -> Realm.Configuration {
    Realm.Configuration(fileURL: configuration.fileURL, encryptionKey: configuration.encryptionKey)
  }

  @Test(arguments: [false, true])
  func `a configuration without sync does not delete changes that were not uploaded`(isEncrypted: Bool)
    async throws
  {
    let configuration = try await changed {
      if isEncrypted { $0.encryptionKey = Data(repeating: 7, count: 64) }
    }
    let error = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: plain(configuration)) }
    #expect(error?.code == .incompatibleHistories)
    #expect(error?.localizedDescription.contains("not uploaded") == true)
    #expect(Realm.fileExists(for: configuration) && world.recovered.isEmpty)
    // The configuration of the file's user moves the file away.
    #expect(try Realm.deleteFiles(for: configuration))
    #expect(!Realm.fileExists(for: configuration) && world.recovered.count == 1)
  }

  @Test func `a configuration without sync deletes a synced file without pending changes`() throws {
    let path = world.root.appendingPathComponent("empty.realm").path
    try FileManager.default.createDirectory(at: world.root, withIntermediateDirectories: true)
    try AppWorld.makeFile(path, isChanged: false)
    let configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path))
    #expect(try Realm.deleteFiles(for: configuration))
    #expect(!world.isThere(path))
    // It also deletes a file whose key is lost.
    var options = DatabaseOptions(encryptionKey: [UInt8](0..<64))
    options.history = .synced
    try Database(path: path, options: options).close()
    #expect(try Realm.deleteFiles(for: configuration))
    #expect(!world.isThere(path))
  }

  // MARK: - What errors leave to the app

  @Test func `a file that only its session has open is moved away at once`() async throws {
    let user = try await world.lastingApp().login(credentials: AppWorld.ann)
    let configuration = user.offlineNotes()
    let path = try #require(configuration.fileURL).path
    let file = try OpenFile(configuration, notes: 1)
    let info = file.session.resetError("The server has another history.").clientResetInfo()
    let (copy, token) = try #require(info)
    // A realm has the file open, so the token is not used up.
    SyncSession.immediatelyHandleError(token)
    #expect(world.isThere(path) && !world.isThere(copy))
    // The session still has a change to upload, so it keeps the file open.
    file.hold.end()
    #expect(file.session.state == .active)
    SyncSession.immediatelyHandleError(token)
    #expect(!world.isThere(path) && world.isThere(copy))
    #expect(file.session.state == .invalid)
    #expect(user.app.metadata.known().actions.isEmpty)
    // The token does not concern another file at the path.
    try await OpenFile(configuration, notes: 1).close()
    SyncSession.immediatelyHandleError(token)
    #expect(world.isThere(path))
  }

  @Test func `a file that was to be moved away stays if another file has replaced it`() async throws {
    let user = try await world.lastingApp().login(credentials: AppWorld.ann)
    let configuration = user.offlineNotes()
    let path = try #require(configuration.fileURL).path
    let file = try OpenFile(configuration, notes: 1)
    let info = file.session.resetError("The server has another history.").clientResetInfo()
    let (copy, token) = try #require(info)
    try await file.close()
    #expect(try Realm.deleteFiles(for: configuration))
    try await OpenFile(configuration, notes: 1).close()
    SyncSession.immediatelyHandleError(token)
    #expect(world.isThere(path) && !world.isThere(copy))
  }

  // MARK: - Removed users

  private func code(_ body: () throws -> Void) -> SyncError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? SyncError)?.code
    }
  }

  @Test func `a realm of a removed user does not open`() async throws {
    let user = try await world.lastingApp().login(credentials: AppWorld.ann)
    let configuration = user.offlineNotes()
    var inMemory = configuration
    inMemory.inMemoryIdentifier = "memory of \(world.id)"
    let file = try OpenFile(configuration, notes: 1)
    try await user.remove()
    // It does not open even while another realm of the file is open.
    #expect(code { _ = try opened(configuration) } == .clientUserError)
    try await file.close()
    #expect(code { _ = try opened(configuration) } == .clientUserError)
    #expect(code { _ = try opened(inMemory) } == .clientUserError)
    for behavior in [Realm.OpenBehavior.never, .once, .always] {
      let opening = Task { @MainActor in
        _ = try await Realm(configuration: configuration, downloadBeforeOpen: behavior)
      }
      guard case .failure(let error) = await opening.result else {
        Issue.record("it opens: \(behavior)")
        continue
      }
      #expect((error as? SyncError)?.code == .clientUserError, "\(behavior)")
    }
    // The file can be deleted.
    #expect(try Realm.deleteFiles(for: configuration))
    // A user who has logged in again is another object.
    let again = try await world.lastingApp().login(credentials: AppWorld.ann)
    try await OpenFile(again.offlineNotes()).close()
  }
}
