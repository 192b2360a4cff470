import Accounts
import Definition
import Foundation
import Front
import Logging
import RealmInterchange

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A server with all apps of a folder.
public final class RunningServer: Sendable {
  public struct Settings: Sendable {
    public var folder: DataFolder
    public var front: FrontSettings
    /// The address and the port that answer `/health` and `/metrics`, and the requests of administrators.
    public var monitor: FrontSettings
    /// The address that clients are told. If it is nil, they are told the address that they asked.
    public var publicAddress: String?
    /// True if the clock of the machine is right, however far ahead of the last change it is.
    public var acceptsClock = false
    /// The number of seconds from one removal of history that no file needs to the next; at least 1.
    public var trimEvery = 3600

    public init(folder: DataFolder, front: FrontSettings, monitor: FrontSettings) {
      (self.folder, self.front, self.monitor) = (folder, front, monitor)
    }
  }

  /// The address at which a running server takes the requests of administrators, and the token that these need.
  struct Address: Codable {
    var host: String
    var port: Int
    var token: String
  }

  public let apps: [ServedApp]
  private let front: Front
  private let monitor: Front
  private let folder: DataFolder
  private let lock: FolderLock
  private let logger: Logger

  public var port: Int { front.port }
  public var monitorPort: Int { monitor.port }

  private init(
    _ apps: [ServedApp], _ front: Front, _ monitor: Front, _ folder: DataFolder, _ lock: FolderLock,
    _ logger: Logger
  ) {
    (self.apps, self.front, self.monitor) = (apps, front, monitor)
    (self.folder, self.lock, self.logger) = (folder, lock, logger)
  }

  /// Opens all apps of the folder, and the two ports.
  ///
  /// - Throws: an error that says what is wrong with a setting, a definition, a file or a port.
  public static func start(_ settings: Settings, logger: Logger) async throws -> RunningServer {
    if let address = settings.publicAddress, let problem = PublicAddress.problem(of: address) {
      throw DataFolder.Problem(description: "--public-address: \(problem)")
    }
    let folder = settings.folder
    guard let lock = try folder.hold() else {
      throw DataFolder.Problem(description: "\(folder.url.path) is in use: another server runs in it.")
    }
    let names = try folder.apps()
    guard !names.isEmpty else {
      throw DataFolder.Problem(
        description:
          "\(folder.url.path) has no app. Make one with: realm-server init --data \(folder.url.path) NAME")
    }
    var apps: [ServedApp] = []
    do {
      for name in names {
        apps.append(
          try await ServedApp(
            name, in: folder, post: post, acceptsClock: settings.acceptsClock,
            trimEvery: settings.trimEvery, logger: logger))
      }
      let routes = ServerRoutes(
        apps, publicAddress: settings.publicAddress, isSecure: settings.front.tls != nil, logger: logger)
      let token = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
      let watch = Monitor(apps: apps, administration: Administration(apps, folder), token: token)
      let monitor = try await Front.start(settings.monitor, http: watch, logger: logger)
      do {
        try tellAddress(Address(host: settings.monitor.host, port: monitor.port, token: token), in: folder)
        let front = try await Front.start(
          frontSettings(settings, apps), http: routes, sockets: routes, logger: logger)
        return RunningServer(apps, front, monitor, folder, lock, logger)
      } catch {
        await monitor.stop(grace: .zero)
        try? FileManager.default.removeItem(at: folder.administration)
        throw error
      }
    } catch {
      for app in apps { await app.stop(wait: 1000) }
      throw error
    }
  }

  /// The settings of the port. It allows all connections that the apps allow, and `requestsBesides` more.
  private static func frontSettings(_ settings: Settings, _ apps: [ServedApp]) -> FrontSettings {
    var front = settings.front
    let allowed = apps.reduce(requestsBesides) { $0 + $1.definition.limits.connections }
    front.limits.connections = max(front.limits.connections, allowed)
    return front
  }

  private static let requestsBesides = 1000

  private static func tellAddress(_ address: Address, in folder: DataFolder) throws {
    let file = folder.administration
    try? FileManager.default.removeItem(at: file)
    let isMade = FileManager.default.createFile(
      atPath: file.path, contents: try JSONEncoder().encode(address), attributes: [.posixPermissions: 0o600])
    guard isMade else { throw DataFolder.Problem(description: "\(file.path) can't be written.") }
  }

  /// Stops the server: it integrates what has come, tells clients to come back after a random time, and closes the
  /// files.
  ///
  /// - Parameters:
  ///   - wait: the longest time after which clients come back, in milliseconds. They come back after half of it at the
  ///     earliest. More than an hour counts as an hour.
  ///   - grace: the time that connections may take to end.
  public func stop(wait: UInt32, grace: Duration) async {
    logger.info("the server stops")
    try? FileManager.default.removeItem(at: folder.administration)
    for app in apps { await app.stop(wait: wait) }
    await front.stop(grace: grace)
    await monitor.stop(grace: .zero)
  }

  /// Reads the files of the certificate again.
  public func reloadCertificate() throws { try front.reloadCertificate() }

  /// Posts JSON to the address of a hook, and returns the status.
  static let post: @Sendable (URL, Data) async throws -> Int = { url, body in
    var request = URLRequest(url: url, timeoutInterval: 10)
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = body
    let (_, response) = try await URLSession.shared.data(for: request)
    return (response as? HTTPURLResponse)?.statusCode ?? 0
  }
}

extension Administration {
  /// Asks the server that runs in a folder. If none runs, the request is carried out on the files of the folder.
  public static func ask(
    _ asked: AdministrationRequest, _ folder: DataFolder, logger: Logger
  ) async throws -> AdministrationAnswer {
    // A server that starts holds the folder before it writes its address there. A server that ends removes its address
    // before it releases the folder.
    for _ in 0..<Self.tries {
      if let lock = try folder.hold() {
        return try await withLock(lock) {
          let app = try await ServedApp(
            asked.app, in: folder, post: RunningServer.post, logger: logger)
          let answer = await Administration([app], folder).perform(asked)
          await app.stop(wait: 1000)
          return answer
        }
      }
      do {
        let data = try Data(contentsOf: folder.administration)
        return try await ask(asked, JSONDecoder.decode(RunningServer.Address.self, fromOthers: data), folder)
      } catch let error as CocoaError where error.code == .fileReadNoSuchFile {}
      try await Task.sleep(for: .milliseconds(100))
    }
    throw DataFolder.Problem(
      description: "A server that starts or ends has \(folder.url.path). Try again in a moment.")
  }

  /// The number of tries, a tenth of a second apart. A server that starts or ends has this time to finish.
  private static var tries: Int { 50 }

  private static func ask(
    _ asked: AdministrationRequest, _ address: RunningServer.Address, _ folder: DataFolder
  ) async throws -> AdministrationAnswer {
    let isAll = address.host == "0.0.0.0" || address.host == "::"
    let host = isAll ? "127.0.0.1" : address.host.contains(":") ? "[\(address.host)]" : address.host
    guard let url = URL(string: "http://\(host):\(address.port)/administration") else {
      throw DataFolder.Problem(description: "\(folder.administration.path) is not readable.")
    }
    var request = URLRequest(url: url, timeoutInterval: 600)
    request.httpMethod = "POST"
    request.setValue("Bearer \(address.token)", forHTTPHeaderField: "Authorization")
    request.httpBody = try JSONEncoder().encode(asked)
    let (body, response) = try await URLSession.shared.data(for: request)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else {
      return AdministrationAnswer([String(decoding: body, as: UTF8.self)], isError: true)
    }
    return try JSONDecoder.decode(AdministrationAnswer.self, fromOthers: body)
  }

  private static func withLock<Result>(
    _ lock: FolderLock, _ body: () async throws -> Result
  ) async rethrows -> Result {
    defer { withExtendedLifetime(lock) {} }
    return try await body()
  }
}
