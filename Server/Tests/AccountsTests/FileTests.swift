import Foundation
import RealmSwift
import Testing

@testable import Accounts

@Suite struct FileTests {
  private func mode(of url: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
  }

  /// The bytes of all files in a folder, one file after another.
  private func bytes(in folder: URL) throws -> Data {
    var all = Data()
    guard let paths = FileManager.default.enumerator(atPath: folder.path) else { return all }
    for case let path as String in paths {
      let file = folder.appendingPathComponent(path)
      var isFolder: ObjCBool = false
      let isThere = FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
      // The file of notes is a pipe, which has no content.
      let isPipe = file.pathExtension == "note"
      if isThere, !isFolder.boolValue, !isPipe { all.append(try Data(contentsOf: file)) }
    }
    return all
  }

  @Test func `only the owner can read the file, even if others could read it before`() async throws {
    let world = try World()
    let accounts = try await world.open()
    #expect(try mode(of: world.file) == 0o600)
    _ = try await accounts.logInAnonymously()
    await accounts.close()
    #expect(try mode(of: world.file) == 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: world.file.path)
    let opened = try await world.open()
    #expect(try mode(of: world.file) == 0o600)
    #expect(try await opened.users().count == 1)
  }

  @Test func `all data is there when the file is opened again`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let logIn = try await accounts.logIn("ann@example.com", "secret-1")
    let key = try await accounts.createAPIKey(name: "robot", for: id)
    try await accounts.setRoles(["editor"], of: id)
    let account = try await accounts.user(id)
    await accounts.close()
    #expect(await refusal { try await accounts.user(id) } == .serviceUnavailable)
    let opened = try await world.open { $0.autoConfirm = true }
    #expect(try await opened.user(id) == account)
    #expect(try await opened.verify(logIn.accessToken).sessionID == logIn.sessionID)
    #expect(await refusal { try await opened.refresh(logIn.refreshToken) } == nil)
    #expect(try await opened.logIn("ann@example.com", "secret-1").userID == id)
    #expect(try await opened.logIn(.apiKey(key.key), address: "a").userID == id)
  }

  @Test func `an encrypted file opens only with its key, and shows no data`() async throws {
    let world = try World()
    let key = Data((0..<64).map { UInt8($0) })
    let accounts = try await world.open { options in
      options.encryptionKey = key
      options.autoConfirm = true
    }
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let copy = world.folder.appendingPathComponent("copy.realm")
    try await accounts.backup(to: copy)
    await accounts.close()
    #expect(try bytes(in: world.folder).range(of: Data("ann@example.com".utf8)) == nil)
    for url in [world.file, copy] {
      for wrong in [nil, Data(repeating: 1, count: 64)] as [Data?] {
        await #expect(throws: Realm.Error.self) {
          try await world.open { options in
            options.fileURL = url
            options.encryptionKey = wrong
          }
        }
      }
      let opened = try await world.open { options in
        options.fileURL = url
        options.encryptionKey = key
      }
      #expect(try await opened.user(id).email == "ann@example.com")
      await opened.close()
    }
  }

  @Test func `options that are not valid are refused`() async throws {
    let world = try World()
    for app in ["", "a b", "a\"b", "a/b", "é", String(repeating: "a", count: 65)] {
      #expect(await refusal { try await world.open { $0.app = app } } == .invalidParameter)
    }
    for length in [0, 32, 63, 65] {
      let key = Data(repeating: 1, count: length)
      #expect(await refusal { try await world.open { $0.encryptionKey = key } } == .invalidParameter)
    }
    let nowhere = world.folder.appendingPathComponent("none/accounts.realm")
    #expect(await refusal { try await world.open { $0.fileURL = nowhere } } == .internalServerError)
  }

  @Test func `a backup is a copy that only its owner can read`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let copy = world.folder.appendingPathComponent("copy.realm")
    try await accounts.backup(to: copy)
    #expect(try mode(of: copy) == 0o600)
    await #expect(throws: Realm.Error.self) { try await accounts.backup(to: copy) }
    try await accounts.deleteUser(id)
    let opened = try await world.open { $0.fileURL = copy }
    #expect(try await opened.logIn("ann@example.com", "secret-1").userID == id)
  }

  @Test func `neither the file nor errors and descriptions hold a secret`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let password = "correct-horse-battery"
    let id = try await accounts.register(email: "ann@example.com", password: password, address: "a")
    let confirmation = try #require(world.messenger.last(.confirm))
    try await accounts.confirm(token: confirmation.token, tokenID: confirmation.tokenID)
    try await accounts.sendReset(email: "ann@example.com", address: "a")
    await accounts.deliveries.settle()
    let reset = try #require(world.messenger.last(.reset))
    let logIn = try await accounts.logIn("ann@example.com", password)
    let key = try await accounts.createAPIKey(name: "robot", for: id)
    let server = try await accounts.createServerAPIKey(name: "robot")
    let secrets = [
      password, confirmation.token, reset.token, parts(of: logIn.refreshToken)[2],
      parts(of: logIn.accessToken)[2], String(key.key.dropFirst(3)), String(server.key.dropFirst(3)),
    ]
    await accounts.close()
    let stored = try bytes(in: world.folder)
    // A text that is stored without a hash would be found.
    #expect(stored.range(of: Data("ann@example.com".utf8)) != nil)
    for secret in secrets {
      #expect(stored.range(of: Data(secret.utf8)) == nil)
      if let raw = Base64URL.bytes(of: secret[...]), raw.count >= 32 {
        #expect(stored.range(of: Data(raw)) == nil)
      }
    }
    let opened = try await world.open()
    var texts = [
      "\(confirmation)", "\(logIn)", "\(key)", "\(server)", String(reflecting: logIn),
      String(reflecting: key),
      "\(Accounts.Credentials.emailPassword(email: "ann@example.com", password: password))",
      String(reflecting: Accounts.Credentials.apiKey(key.key)),
    ]
    for refused in [
      await thrown { try await opened.logIn("ann@example.com", password + "!") },
      await thrown { try await opened.logIn(.apiKey(key.key + "A"), address: "a") },
      await thrown { try await opened.verify(logIn.accessToken + "A") },
      await thrown { try await opened.refresh(logIn.refreshToken + "A") },
      await thrown { try await opened.reset(token: reset.token, tokenID: id, password: password) },
      await thrown { try await opened.confirm(token: confirmation.token, tokenID: confirmation.tokenID) },
      await thrown { try await opened.register(email: password, password: password, address: "a") },
    ] {
      let refused = try #require(refused)
      texts += [refused.message, "\(refused)", String(reflecting: refused)]
    }
    for secret in secrets {
      for text in texts { #expect(!text.contains(secret)) }
    }
  }

  @Test func `realms that name no classes do not have the classes of accounts`() throws {
    let world = try World()
    // The folder is removed with the world.
    defer { withExtendedLifetime(world) {} }
    let url = world.folder.appendingPathComponent("other.realm")
    let realm = try Realm(fileURL: url)
    #expect(realm.schema.objectSchema.allSatisfy { !$0.className.hasPrefix("Stored") })
  }
}
