import ArgumentParser
import Definition
import Foundation
import Front
import Logging
import Service

struct DataOption: ParsableArguments {
  @Option(help: "The folder of the server: it has a folder for each app.") var data = "./server-data"

  var folder: DataFolder { DataFolder(data) }
}

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs the server until it gets an interrupt (Control-C) or is told to terminate.")

  @OptionGroup var place: DataOption
  @Flag(
    help: "For development: makes the app 'dev', where every user may do everything, if the folder has none.")
  var dev = false
  @Option(help: "The address that it listens on.") var host = "127.0.0.1"
  @Option(help: "The port of HTTP and WebSockets.") var port = 8080
  @Option(help: "The address that /health and /metrics are asked on.") var monitorHost = "127.0.0.1"
  @Option(help: "The port of /health and /metrics; 0 takes any that is free.") var monitorPort = 8081
  @Option(help: "A PEM file with the certificate and those that it is signed by.") var certificate: String?
  @Option(help: "A PEM file with the key of the certificate.") var key: String?
  @Option(help: "The address that clients are told, as in https://sync.example.org.") var publicAddress:
    String?
  @Option(parsing: .upToNextOption, help: "Addresses or ranges of proxies that name their clients.")
  var trustedProxy: [String] = []
  @Flag(help: "In development, listens on other addresses than those of this machine.") var devListen = false
  @Flag(help: "The clock is right, though it is more than a day ahead of the last change.") var acceptClock =
    false
  @Option(help: "Log lines from this level on: trace, debug, info, notice, warning, error.") var log = "info"
  @Option(help: "When the server stops, clients come back after so many seconds at most.") var comeBack = 30
  @Option(help: "History that no device needs is removed once in so many seconds.") var trimEvery = 3600

  func run() async throws {
    guard let level = Logger.Level(rawValue: log) else {
      throw ValidationError("--log takes trace, debug, info, notice, warning or error.")
    }
    guard (certificate == nil) == (key == nil) else {
      throw ValidationError("Give both --certificate and --key, or none of them.")
    }
    guard (1...86_400).contains(comeBack) else {
      throw ValidationError("--come-back takes 1 to 86400 seconds.")
    }
    guard (1...86_400).contains(trimEvery) else {
      throw ValidationError("--trim-every takes 1 to 86400 seconds.")
    }
    var logger = Logger(label: "realm-server") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = level
    // Nobody else may read the files that the server makes, because they contain keys that tokens are signed with.
    umask(0o077)
    let folder = place.folder
    if dev, try folder.apps().isEmpty {
      try folder.add("dev", text: AppDefinition.development(id: "dev"))
      logger.notice("an app was made", metadata: ["app": "dev"])
    }
    try refuseOpenDevelopment(folder)
    let tls = certificate.flatMap { certificate in
      key.map { TLSFiles(certificates: certificate, key: $0) }
    }
    var front = FrontSettings(host: host, port: port, tls: tls)
    front.trustedProxies = trustedProxy
    var settings = RunningServer.Settings(
      folder: folder, front: front, monitor: FrontSettings(host: monitorHost, port: monitorPort))
    settings.publicAddress = publicAddress
    (settings.acceptsClock, settings.trimEvery) = (acceptClock, trimEvery)
    let server = try await RunningServer.start(settings, logger: logger)
    let apps = server.apps.map(\.id).joined(separator: ", ")
    print("realm-server listens on \(host):\(server.port) for the apps \(apps).")
    print("Health and metrics: http://\(monitorHost):\(server.monitorPort)/health and /metrics")
    fflush(nil)
    await waitForEnd(server, logger)
    await server.stop(wait: UInt32(comeBack) * 1000, grace: .seconds(5))
  }

  /// Refuses to serve an app in development at an address that other machines reach, because everybody who reaches it
  /// may do everything.
  private func refuseOpenDevelopment(_ folder: DataFolder) throws {
    guard !devListen, !["127.0.0.1", "::1", "localhost"].contains(host) else { return }
    for app in try folder.apps() where try folder.read(app).isDevelopment {
      throw ValidationError(
        "The app '\(app)' is in development, where every user may do everything. Listen on 127.0.0.1, set "
          + "'development: false' in its app.yaml, or give --dev-listen.")
    }
  }

  private func waitForEnd(_ server: RunningServer, _ logger: Logger) async {
    let hangUps = Signals([SIGHUP]) {
      do { try server.reloadCertificate() } catch {
        logger.error("the certificate can't be read; the old one is used", metadata: ["error": "\(error)"])
      }
    }
    await Signals.wait(for: [SIGINT, SIGTERM])
    hangUps.cancel()
  }
}
