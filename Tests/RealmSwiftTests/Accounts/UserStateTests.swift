import Foundation
import RealmSyncClient
import Synchronization
import Testing

@testable import RealmSwift

/// Each change of a user's state, with its effects on the user's files and sessions.
@Suite struct UserStateTests {
  let world = AppWorld()

  @Test func `a user who logs out loses the tokens before the server hears of it, and keeps the files`()
    async throws
  {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let (path, told) = (try world.makeFile(of: user), user.listen())
    let refresh = user.refreshToken
    let seen = Mutex<[String?]>([])
    world.server.answer { asked in
      if asked.line == "DELETE /auth/session" {
        seen.withLock { $0 += [user.accessToken, user.refreshToken, asked.token] }
      }
      return nil
    }
    try await user.logOut()
    #expect(seen.withLock { $0 } == [nil, nil, refresh])
    #expect(user.state == .loggedOut && told.events == ["logOut"] && user.customData.isEmpty)
    #expect(app.currentUser == nil && app.allUsers == [user.id: user])
    try await user.logOut()
    #expect(told.events == ["logOut"] && world.server.count("DELETE /auth/session") == 1)
    world.restart()
    #expect(world.isThere(path) && world.app().allUsers[user.id]?.state == .loggedOut)
  }

  @Test func `a log-out succeeds even if the server does not hear of it`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    world.server.state.withLock { $0.isOffline = true }
    #expect(await appError { try await user.logOut() }?.code == .httpRequestFailed)
    #expect(user.state == .loggedOut && world.app().currentUser == nil)
  }

  @Test func `an anonymous user who logs out is removed, and the user's files go at the next start`()
    async throws
  {
    let app = world.app()
    let user = try await app.login(credentials: .anonymous)
    let (path, told) = (try world.makeFile(of: user), user.listen())
    try await user.logOut()
    #expect(user.state == .removed && told.events == ["removed"] && app.allUsers.isEmpty)
    #expect(world.isThere(path))
    #expect(await appError { try await user.logOut() }?.code == .unknown)
    let restarted = world.app()
    #expect(!world.isThere(path) && !world.isThere(world.paths.folder(of: user.id)))
    #expect(restarted.allUsers.isEmpty && world.recovered.isEmpty)
  }

  @Test(arguments: [true, false])
  func `a removed user is unknown, and the user's files go at the next start`(isLoggedIn: Bool) async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let path = try world.makeFile(of: user)
    let own = world.root.appendingPathComponent("own.realm").path
    try AppWorld.makeFile(own, isChanged: false)
    user.note(realmPath: own)
    if !isLoggedIn { try await user.logOut() }
    let told = user.listen()
    try await user.remove()
    #expect(user.state == .removed && user.accessToken == nil && told.events == ["removed"])
    #expect(world.server.count("DELETE /auth/session") == 1)
    #expect(app.currentUser == nil && app.allUsers.isEmpty && world.isThere(path) && world.isThere(own))
    #expect(await appError { try await user.remove() }?.code == .unknown)
    world.restart()
    #expect(!world.isThere(path) && !world.isThere(own))
    // The same person is another object then.
    let again = try await app.login(credentials: AppWorld.ann)
    #expect(again !== user && again.id == user.id && again.isLoggedIn && user.state == .removed)
  }

  @Test func `a user who logs in again before the next start keeps the files`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let path = try world.makeFile(of: user)
    try await user.remove()
    let again = try await app.login(credentials: AppWorld.ann)
    world.restart()
    #expect(world.isThere(path))
    try await again.remove()
    world.restart()
    #expect(!world.isThere(path))
  }

  @Test func `a deleted user is deleted on the server first, and the user's files go at once`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let (path, told) = (try world.makeFile(of: user), user.listen())
    world.server.answer { $0.line == "DELETE /auth/delete" ? .error(500, "InternalServerError") : nil }
    #expect(await appError { try await user.delete() }?.code == .internalServerError)
    #expect(user.isLoggedIn && world.isThere(path) && told.events == [])
    world.server.answer(nil)
    try await user.delete()
    #expect(user.state == .removed && told.events == ["removed"] && app.currentUser == nil)
    #expect(!world.isThere(path) && world.server.state.withLock { $0.refreshTokens.isEmpty })
    #expect(await appError { try await user.delete() }?.code == .unknown)
    #expect(app.metadata.known().removed.isEmpty)
  }

  @Test func `a user who is logged out can't be deleted`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    try await user.logOut()
    #expect(await appError { try await user.delete() }?.code == .unknown)
    #expect(user.state == .loggedOut && app.allUsers.count == 1)
  }

  @Test(arguments: [(401, true), (401, false), (403, true), (403, false)])
  func `a refresh that the server refuses logs the user out, and the files stay`(
    status: Int, isAnonymous: Bool
  ) async throws {
    let app = world.app()
    let user = try await app.login(credentials: isAnonymous ? .anonymous : AppWorld.ann)
    let (path, told) = (try world.makeFile(of: user), user.listen())
    world.server.answer { $0.line == "POST /auth/session" ? .error(status, "UserDisabled") : nil }
    let error = await appError { _ = try await user.refreshCustomData() }
    #expect(error?.code == .userDisabled && error?.httpStatusCode == status)
    #expect(user.state == .loggedOut && told.events == ["logOut"] && app.currentUser == nil)
    world.restart()
    #expect(world.isThere(path) && app.allUsers == [user.id: user])
  }

  @Test(arguments: [404, 429, 500, 503])
  func `any other answer to a refresh logs no user out`(status: Int) async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    world.server.answer { $0.line == "POST /auth/session" ? .error(status, "Anything") : nil }
    let error = await appError { _ = try await user.refreshCustomData() }
    #expect(error?.code == .unknown && error?.httpStatusCode == status)
    #expect(user.isLoggedIn && user.accessToken != nil && app.currentUser === user)
  }

  @Test func `a connection that the server refuses logs the user out`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let told = user.listen()
    let token = try #require(user.accessToken)
    let result = await user.route(.user(token: token))
    guard case .failure(.loggedOut) = result else {
      Issue.record("\(result) is another answer")
      return
    }
    #expect(user.state == .loggedOut && told.events == ["logOut"] && app.allUsers.count == 1)
  }

  @Test func `a refusal of an earlier log-in leads to a connection with the newer token`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let old = try #require(user.accessToken)
    let again = try await app.login(credentials: AppWorld.ann)
    #expect(again === user)
    let told = user.listen()
    let route = try await user.route(.user(token: old)).get()
    #expect(route.token == user.accessToken && route.token != old)
    #expect(user.isLoggedIn && told.events == [] && app.currentUser === user)
    // If the log-in has also ended, the refresh token shows it.
    world.server.state.withLock { $0.refreshTokens = [:] }
    guard case .failure(.loggedOut) = await user.route(.token) else {
      Issue.record("a refused refresh is answered otherwise")
      return
    }
    #expect(user.state == .loggedOut && told.events == ["logOut"])
  }

  @Test func `a user who logs in again is the same object, and the sessions revive`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let told = user.listen()
    let first = user.accessToken
    try await user.logOut()
    let again = try await app.login(credentials: AppWorld.ann)
    #expect(again === user && user.isLoggedIn && user.accessToken != first)
    #expect(told.events == ["logOut", "logIn"] && app.currentUser === user)
    let restarted = world.app()
    let stored = try #require(restarted.currentUser)
    let second = stored.listen()
    #expect(try await restarted.login(credentials: AppWorld.ann) === stored)
    #expect(second.events == ["logIn"])
  }

  @Test func `a user of another app and a user who is logged out can't be the current one`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    try await user.logOut()
    MisuseTests().expectStop(["Invalid user", user.id, "not logged in"]) { _ = app.switch(to: user) }
    let other = AppWorld()
    let stranger = try await other.app().login(credentials: AppWorld.ann)
    MisuseTests().expectStop(["App is gone"]) { _ = app.switch(to: stranger) }
  }
}

extension User {
  /// The route of the next connection.
  func route(_ refused: RouteRefusal? = nil) async -> Result<SyncRoute, AccessProblem> {
    await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<SyncRoute, AccessProblem>, Never>) in
      route(after: refused) { continuation.resume(returning: $0) }
    }
  }
}
