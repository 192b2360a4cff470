import Foundation
import Testing

@testable import RealmSwift

/// The paths of users' files.
@Suite struct SyncPathsTests {
  let world = AppWorld()

  private func name(_ content: SyncPaths.Content, of user: String = "user") -> String {
    let path = world.paths.file(of: user, content).path
    return String(path.dropFirst(world.paths.app.count + 1))
  }

  @Test func `a file is named after its user and its partition or its kind of sync`() throws {
    let path = world.paths.file(of: "user", .flexible).path
    #expect(path.hasSuffix("mongodb-realm/\(world.id)/user/flx_sync_default.realm"))
    #expect(path.hasPrefix(world.root.path))
    #expect(name(.partition("abc")) == "user/%22abc%22.realm")
    #expect(name(.partition(.null)) == "user/null.realm")
    #expect(name(.partition(.int64(123))) == "user/%7B%22%24numberLong%22%3A%22123%22%7D.realm")
    #expect(name(.partition(.int32(123))) == "user/%7B%22%24numberInt%22%3A%22123%22%7D.realm")
    let id = try ObjectId(string: "0123456789abcdef01234567")
    #expect(
      name(.partition(.objectId(id))) == "user/%7B%22%24oid%22%3A%220123456789abcdef01234567%22%7D.realm")
    #expect(name(.partition("../é~-_")) == "user/%22..%2F%C3%A9~-_%22.realm")
  }

  @Test func `no name leads out of its folder`() {
    #expect(name(.flexible, of: "..") == "%2E%2E/flx_sync_default.realm")
    #expect(name(.flexible, of: ".") == "%2E/flx_sync_default.realm")
    #expect(name(.flexible, of: "a/../b") == "a%2F..%2Fb/flx_sync_default.realm")
    #expect(!SyncPaths.isName("") && !SyncPaths.isName(".") && !SyncPaths.isName(".."))
    #expect(
      SyncPaths.isName("...") && SyncPaths.isName("a/b")
        && !SyncPaths.isName(String(repeating: "a", count: 1025)))
    #expect(SyncPaths(world.root, appID: "a/b").app == world.root.path + "/mongodb-realm/a%2Fb")
  }

  @Test func `a name that is too long is hashed, with the same result each time`() {
    let long = SyncPaths.Content.partition(.string(String(repeating: "x", count: 300)))
    let hashed = name(long)
    #expect(hashed.hasSuffix(".realm") && hashed.count == 70 && !hashed.contains("/"))
    #expect(name(long) == hashed && name(long, of: "other") != hashed)
    #expect(hashed.dropLast(6).allSatisfy { $0.isHexDigit })
    let elsewhere = SyncPaths(world.root.appendingPathComponent("elsewhere"), appID: world.id)
    #expect(elsewhere.file(of: "user", long).lastPathComponent == hashed)
    #expect(!name(.flexible, of: String(repeating: "u", count: 300)).contains("/"))
  }

  @Test func `an existing file is preferred: first without a suffix, then with one, then the hashed name`()
    throws
  {
    let whole = world.paths.file(of: "user", .partition("a")).path
    #expect(whole.hasSuffix(".realm"))
    let bare = String(whole.dropLast(".realm".count))
    let long = SyncPaths.Content.partition(.string(String(repeating: "x", count: 300)))
    let hashed = world.paths.file(of: "user", long).path
    for path in [whole, bare] { try Data("a".utf8).write(to: URL(fileURLWithPath: path)) }
    #expect(world.paths.file(of: "user", .partition("a")).path == bare)
    try FileManager.default.removeItem(atPath: bare)
    #expect(world.paths.file(of: "user", .partition("a")).path == whole)
    try FileManager.default.createDirectory(atPath: bare, withIntermediateDirectories: false)
    #expect(world.paths.file(of: "user", .partition("a")).path == whole)
    try Data("a".utf8).write(to: URL(fileURLWithPath: hashed))
    #expect(world.paths.file(of: "user", long).path == hashed)
  }

  @Test func `the folder of a user is made without access for others`() throws {
    let path = world.paths.file(of: "user", .flexible).path
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
    #expect(mode == 0o700 && !world.isThere(path))
  }

  @Test func `stored paths follow the root if they are below it`() {
    let other = SyncPaths(URL(fileURLWithPath: "/elsewhere"), appID: world.id)
    let path = world.root.path + "/mongodb-realm/a.realm"
    #expect(world.paths.stored(path) == "mongodb-realm/a.realm")
    #expect(other.path(ofStored: "mongodb-realm/a.realm") == "/elsewhere/mongodb-realm/a.realm")
    #expect(world.paths.stored("/a.realm") == "/a.realm" && other.path(ofStored: "/a.realm") == "/a.realm")
    #expect(world.paths.newRecovered() != world.paths.newRecovered())
    #expect(world.paths.newRecovered().hasPrefix(world.paths.recovered + "/recovered_realm-"))
  }
}
