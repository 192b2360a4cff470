import Foundation
import RealmStorage
import Testing

@testable import RealmSwift

/// The work on files at the start of an app. Changes that were not uploaded are never lost, and open files are never
/// touched.
@Suite struct RecoveredFileTests {
  let world = AppWorld()

  private func removedUser(isChanged: Bool) async throws -> String {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let path = try world.makeFile(of: user, isChanged: isChanged)
    try await user.remove()
    return path
  }

  @Test func `a file with changes that were not uploaded is moved to the recovered files`() async throws {
    let path = try await removedUser(isChanged: true)
    world.restart()
    #expect(!world.isThere(path) && !world.isThere(path + ".note") && !world.isThere(path + ".management"))
    let name = try #require(world.recovered.first)
    #expect(world.recovered.count == 1 && name.hasPrefix("recovered_realm-"))
    let database = try Database(path: "\(world.paths.recovered)/\(name)", options: .reading(nil))
    let snapshot = try database.snapshot()
    #expect(try snapshot.changelog()?.count(snapshot) == 1)
    world.restart()
    #expect(world.recovered.count == 1 && world.app().metadata.known().removed.isEmpty)
  }

  @Test func `an encrypted file, whose changes can't be read, is moved to the recovered files too`()
    async throws
  {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let path = world.paths.file(of: user.id, .flexible).path
    var options = DatabaseOptions(encryptionKey: [UInt8](0..<64))
    options.history = .synced
    try Database(path: path, options: options).close()
    user.note(realmPath: path)
    try await user.remove()
    world.restart()
    #expect(!world.isThere(path) && world.recovered.count == 1)
  }

  @Test func `an open file stays until it is closed`() async throws {
    let path = try await removedUser(isChanged: true)
    let database = try Database(path: path, options: .reading(nil))
    world.restart()
    #expect(world.isThere(path) && world.recovered.isEmpty)
    #expect(world.app().metadata.known().removed.count == 1)
    database.close()
    world.restart()
    #expect(!world.isThere(path) && world.recovered.count == 1)
  }

  @Test func `a file that is not a realm stays`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let path = world.root.appendingPathComponent("letter.txt").path
    try Data("Dear reader, this is a letter and no database.".utf8).write(to: URL(fileURLWithPath: path))
    user.note(realmPath: path)
    try await user.remove()
    world.restart()
    #expect(world.isThere(path) && world.recovered.isEmpty)
    #expect(world.app().metadata.known().removed.isEmpty)
  }

  @Test func `a file that now belongs to another user stays`() async throws {
    let app = world.app()
    let (ann, ben) = (
      try await app.login(credentials: AppWorld.ann), try await app.login(credentials: AppWorld.ben)
    )
    let path = world.root.appendingPathComponent("shared.realm").path
    try AppWorld.makeFile(path, isChanged: false)
    ann.note(realmPath: path)
    ben.note(realmPath: path)
    try await ann.remove()
    world.restart()
    #expect(world.isThere(path))
    try await ben.remove()
    world.restart()
    #expect(!world.isThere(path))
  }

  @Test func `the noted action for a file is done at the next start`() throws {
    let app = world.app()
    let (first, second) = (world.root.path + "/first.realm", world.root.path + "/second.realm")
    for path in [first, second] { try AppWorld.makeFile(path, isChanged: true) }
    let copy = world.paths.newRecovered()
    app.add(FileAction(path: first, file: try Database.fileID(path: first), copy: nil))
    app.add(FileAction(path: second, file: try Database.fileID(path: second), copy: copy))
    let open = try Database(path: second, options: .reading(nil))
    world.restart()
    #expect(!world.isThere(first) && world.isThere(second))
    open.close()
    world.restart()
    #expect(!world.isThere(second) && world.isThere(copy) && world.app().metadata.known().actions.isEmpty)
  }

  @Test func `the noted action for a file is not done to another file at its path`() throws {
    let app = world.app()
    let copy = world.paths.newRecovered()
    for (name, target) in [("first", nil), ("second", copy)] as [(String, String?)] {
      let path = "\(world.root.path)/\(name).realm"
      try AppWorld.makeFile(path, isChanged: true)
      app.add(FileAction(path: path, file: try Database.fileID(path: path), copy: target))
      // The app itself deletes the file, and makes another one before its next start.
      #expect(try Database.removeFiles(path: path))
      try AppWorld.makeFile(path, isChanged: true)
      world.restart()
      #expect(world.isThere(path), "\(name)")
    }
    #expect(!world.isThere(copy) && world.recovered.isEmpty)
    // The action is not tried again.
    #expect(world.app().metadata.known().actions.isEmpty)
  }

  @Test(arguments: [false, true])
  func `an open file stays, even if it is encrypted`(isEncrypted: Bool) throws {
    let app = world.app()
    let (path, copy) = (world.root.path + "/open.realm", world.paths.newRecovered())
    var options = DatabaseOptions(encryptionKey: isEncrypted ? [UInt8](0..<64) : nil)
    options.history = .synced
    let open = try Database(path: path, options: options)
    app.add(FileAction(path: path, file: try Database.fileID(path: path), copy: copy))
    world.restart()
    #expect(world.isThere(path) && !world.isThere(copy))
    #expect(world.app().metadata.known().actions.count == 1)
    open.close()
    world.restart()
    #expect(!world.isThere(path) && world.isThere(copy))
  }

  @Test func `an open file of a removed user stays, even if it is encrypted`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let path = world.paths.file(of: user.id, .flexible).path
    var options = DatabaseOptions(encryptionKey: [UInt8](0..<64))
    options.history = .synced
    let open = try Database(path: path, options: options)
    user.note(realmPath: path)
    try await user.remove()
    world.restart()
    #expect(world.isThere(path) && world.recovered.isEmpty)
    open.close()
    world.restart()
    #expect(!world.isThere(path) && world.recovered.count == 1)
  }
}
