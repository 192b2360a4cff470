import Accounts
import Definition
import Foundation
import Front
import Logging
import RealmServer
import Synchronization

/// An app of the server: its users, and the worker that serves its files.
public final class ServedApp: Sendable {
  public let id: String
  public let definition: AppDefinition
  public let accounts: Accounts
  public let worker: AppWorker
  /// The open sockets of a user.
  private struct Sockets {
    let intake = UserIntake()
    var count = 0
  }

  /// The open sockets, by user.
  private let sockets = Mutex<[String: Sockets]>([:])
  private let logger: Logger

  /// - Throws: `DefinitionProblems`; `SyncAppProblem`; `AccountError`; an error of a file that can't be opened.
  public init(
    _ id: String, in folder: DataFolder, post: @escaping @Sendable (URL, Data) async throws -> Int,
    acceptsClock: Bool = false, trimEvery: Int = 3600,
    clock: @escaping @Sendable () -> UInt64 = ServedApp.now, logger: Logger
  ) async throws {
    (self.id, self.logger) = (id, logger)
    definition = try folder.read(id)
    var settings = SyncAppSettings(definition)
    settings.limits.acceptsClock = acceptsClock
    worker = try AppWorker(
      id: id, path: folder.state(of: id).path, encryptionKey: nil, settings: settings,
      maximumOfflineTime: definition.maximumOfflineTime == 0 ? nil : UInt64(definition.maximumOfflineTime),
      trimEvery: trimEvery, clock: clock, logger: logger)
    var options = Accounts.Options(app: id, fileURL: folder.accounts(of: id))
    options.providers = Set(definition.providers.map(\.provider))
    options.autoConfirm = definition.email.autoConfirm
    switch definition.email.delivery {
    case .command(let command): options.messenger = try CommandMessenger(command: command)
    case .address(let address):
      if let url = URL(string: address) { options.messenger = AddressMessenger(url: url, post: post) }
    case nil: break
    }
    // The address of a hook may be a secret, and errors of the network tell it.
    options.report = { logger.error("work for a user failed", metadata: ["error": "\(type(of: $0))"]) }
    accounts = try await Accounts.open(options)
    accounts.onRevocation { [worker] in worker.end(user: $0.userID, session: $0.sessionID) }
  }

  /// The time of the machine, in milliseconds since 1970.
  public static let now: @Sendable () -> UInt64 = { UInt64(Date().timeIntervalSince1970 * 1000) }

  /// Decides on a WebSocket of a client by its access token.
  func accept(token: String) async -> SocketDecision {
    let asked = ContinuousClock.now
    let access: Accounts.Access
    do {
      access = try await accounts.verify(token)
    } catch {
      return .refuse(ErrorResponse.make(error, logger))
    }
    let limits = definition.limits
    let user = access.userID
    let intake = sockets.withLock { sockets -> UserIntake? in
      var own = sockets[user] ?? Sockets()
      guard own.count < limits.connectionsPerUser,
        sockets.values.reduce(0, { $0 + $1.count }) < limits.connections
      else { return nil }
      own.count += 1
      sockets[user] = own
      return own.intake
    }
    guard let intake else {
      return .refuse(
        ErrorResponse.make(
          AccountError(code: .tooManyRequests, message: "There are too many connections. Try again later."),
          logger))
    }
    let data = UserData(roles: access.account.roles, customData: access.account.customData)
    let end = UInt64(max(0, access.expiresAt.timeIntervalSince1970) * 1000)
    let socket = AppSocket(
      worker, intake, asked: asked, user: user, session: access.sessionID, data: data, end: end
    ) { [weak self] in self?.release(user) }
    return .accept(subprotocol: ServerRoutes.subprotocol) { socket }
  }

  private func release(_ user: String) {
    sockets.withLock { sockets in
      sockets[user]?.count -= 1
      if sockets[user]?.count == 0 { sockets[user] = nil }
    }
  }

  /// Tells clients to come back, and closes the files.
  public func stop(wait: UInt32) async {
    await worker.stop(wait: wait)
    await accounts.close()
  }
}

extension AppDefinition.Provider {
  fileprivate var provider: Account.Provider {
    switch self {
    case .anonymous: .anonymous
    case .emailPassword: .emailPassword
    case .apiKey: .apiKey
    }
  }
}
