import Accounts
import Foundation
import RealmServer

/// A request of an administrator. A server carries it out while it runs. While no server runs, it is carried out on the
/// files of the folder.
public enum AdministrationRequest: Codable, Sendable {
  /// Copies the objects and the users of an app, with the keys that tokens are signed with, into a folder.
  case backup(app: String, folder: String)
  /// Gives up the file of a client that is not used any more.
  case retire(app: String, replica: UInt64)
  case users(app: String, after: String?)
  case disable(app: String, user: String)
  case enable(app: String, user: String)
  case delete(app: String, user: String)
  case logOut(app: String, user: String)
  case confirm(app: String, user: String)
  case roles(app: String, user: String, [String])
  case customData(app: String, user: String, String?)
  case password(app: String, user: String, String)
  case serverKey(app: String, name: String)

  var app: String {
    switch self {
    case .backup(let app, _), .retire(let app, _), .users(let app, _), .disable(let app, _),
      .enable(let app, _), .delete(let app, _), .logOut(let app, _), .confirm(let app, _),
      .roles(let app, _, _), .customData(let app, _, _), .password(let app, _, _), .serverKey(let app, _):
      app
    }
  }
}

/// The answer to a request: lines for people to read.
public struct AdministrationAnswer: Codable, Sendable, Equatable {
  public var lines: [String]
  public var isError: Bool

  public init(_ lines: [String], isError: Bool = false) { (self.lines, self.isError) = (lines, isError) }
}

/// Carries out the requests of administrators.
public struct Administration: Sendable {
  private let apps: [ServedApp]
  private let folder: DataFolder

  public init(_ apps: [ServedApp], _ folder: DataFolder) { (self.apps, self.folder) = (apps, folder) }

  public func perform(_ request: AdministrationRequest) async -> AdministrationAnswer {
    guard let app = apps.first(where: { $0.id == request.app }) else {
      let known = apps.map(\.id).joined(separator: ", ")
      return AdministrationAnswer(["There is no app '\(request.app)'. There is: \(known)"], isError: true)
    }
    do {
      return AdministrationAnswer(try await perform(request, app))
    } catch {
      return AdministrationAnswer(["\(error)"], isError: true)
    }
  }

  private func perform(_ request: AdministrationRequest, _ app: ServedApp) async throws -> [String] {
    let accounts = app.accounts
    switch request {
    case .backup(_, let path): return try await backUp(app, to: path)
    case .retire(_, let replica):
      guard try await app.worker.retire(replica: replica) else {
        throw DataFolder.Problem(description: "No file has the number \(replica).")
      }
      return [
        "The file \(replica) is given up. If it comes back, it is reset, and keeps what it has not sent."
      ]
    case .users(_, let last):
      return try await accounts.users(after: last, limit: 100).map(Self.line)
    case .disable(_, let user):
      try await accounts.disableUser(user)
      return ["\(user) can't log in any more."]
    case .enable(_, let user):
      try await accounts.enableUser(user)
      return ["\(user) can log in."]
    case .delete(_, let user):
      try await accounts.deleteUser(user)
      return ["\(user) is deleted. What the user wrote stays."]
    case .logOut(_, let user):
      try await accounts.revokeSessions(of: user)
      return ["\(user) is logged out everywhere."]
    case .confirm(_, let user):
      try await accounts.confirmUser(user)
      return ["\(user) is confirmed."]
    case .roles(_, let user, let roles):
      try await accounts.setRoles(roles, of: user)
      return [
        "\(user) has the roles: \(roles.joined(separator: ", ")). They hold from the next connection on."
      ]
    case .customData(_, let user, let data):
      try await accounts.setCustomData(data, of: user)
      return ["The custom data of \(user) is set. It holds from the next connection on."]
    case .password(_, let user, let password):
      try await accounts.setPassword(password, of: user)
      return ["\(user) has a new password, and is logged out everywhere."]
    case .serverKey(_, let name):
      let made = try await accounts.createServerAPIKey(name: name)
      return ["The key is shown this once: \(made.key)"]
    }
  }

  private static func line(_ account: Account) -> String {
    var parts = [account.id, account.email ?? "-"]
    parts.append(account.identities.map(\.provider.rawValue).joined(separator: ","))
    if account.isDisabled { parts.append("disabled") }
    if account.email != nil, !account.isConfirmed { parts.append("not confirmed") }
    if !account.roles.isEmpty { parts.append("roles: " + account.roles.joined(separator: ",")) }
    return parts.joined(separator: "  ")
  }

  /// Makes the copy beside its place, and gives it its name when it is complete, so that no part of a backup stays
  /// behind.
  private func backUp(_ app: ServedApp, to path: String) async throws -> [String] {
    let files = FileManager.default
    let copy = DataFolder(path)
    let target = copy.folder(of: app.id)
    guard !files.fileExists(atPath: target.path) else {
      throw DataFolder.Problem(description: "\(target.path) is there already. Give another folder.")
    }
    try copy.make()
    let name = ".\(app.id).\(UUID().uuidString)"
    let part = copy.folder(of: name)
    do {
      try DataFolder.makePrivate(part)
      try files.copyItem(at: folder.definition(of: app.id), to: copy.definition(of: name))
      try await app.accounts.backup(to: copy.accounts(of: name))
      let state = copy.state(of: name).path
      try await app.worker.backup(to: state, encryptionKey: nil)
      try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: state)
      try files.moveItem(at: part, to: target)
    } catch {
      try? files.removeItem(at: part)
      throw error
    }
    return ["\(target.path) has a copy of the app. A server goes on from it when its folder is \(path)."]
  }
}
