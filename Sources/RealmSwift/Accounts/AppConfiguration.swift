public import Foundation

/// Says how an `App` reaches its server and where it keeps its data on this device. An app copies its configuration when it is
/// made.
///
///     let app = App(id: "notes", configuration: AppConfiguration(baseURL: "https://sync.example.org"))
public final class AppConfiguration {
  /// The address of an app that sets none. No request is sent to it.
  static let defaultBaseURL = "https://services.cloud.mongodb.com"

  private var address: String?

  /// The address of the server, which begins with `https://` or `http://`. Nil and an empty text set it back to the default. This
  /// library sends no request to the default address: each call that needs the server fails at once with
  /// `AppError.httpRequestFailed`. So an app that logs in has to set the address.
  public var baseURL: String! {
    get { address ?? Self.defaultBaseURL }
    set { address = newValue?.isEmpty == false ? newValue : nil }
  }

  /// The object that sends the requests of the app; nil for the library's own `RLMNetworkTransport`. WebSockets do not pass
  /// through it.
  public var transport: (any RLMNetworkTransportProtocol)?

  /// The longest time that a request may take, in milliseconds; 0 for no limit. The default is 60,000.
  public var defaultRequestTimeoutMS: UInt = 60_000

  /// Whether the sessions of a user share connections. The default is true.
  public var enableSessionMultiplexing = true

  /// The timeouts of sync connections; nil for the defaults of `SyncTimeoutOptions`.
  public var syncTimeouts: SyncTimeoutOptions?

  /// The folder in which the app makes a folder `mongodb-realm`. That folder has the realms of the users and the file with their
  /// tokens. The default is the folder of the default realm.
  public var rootDirectory: URL

  /// The key of 64 bytes with which the file of users and tokens is encrypted. If it is nil, which is the default, the app makes
  /// a random key once and keeps it in a file beside the encrypted one, which only its owner may read. This protects a copy of
  /// the encrypted file that is made without the key. An app that can keep a key in a better place gives that key here. If the
  /// key differs from the one that the file was written with, users have to log in again.
  ///
  /// - Precondition: the key has 64 bytes. Otherwise the program stops.
  public var metadataKey: Data? {
    didSet {
      guard let metadataKey, metadataKey.count != 64 else { return }
      raise(
        "Invalid encryption key",
        "AppConfiguration.metadataKey has \(metadataKey.count) bytes; give 64, for example from a keychain.")
    }
  }

  /// A file with certificates in the format PEM. The app trusts them beside those of the system: use it for a server that has
  /// made its own certificate. Nil for none.
  public var trustedCertificate: URL?

  /// Makes a configuration with the defaults.
  public init() { rootDirectory = AppSettings.defaultFolder }

  /// Makes a configuration. Each parameter is described at the property of the same name. Nil stands for the default.
  public init(
    baseURL: String? = nil, transport: (any RLMNetworkTransportProtocol)? = nil,
    defaultRequestTimeoutMS: UInt? = nil, enableSessionMultiplexing: Bool? = nil,
    syncTimeouts: SyncTimeoutOptions? = nil
  ) {
    rootDirectory = AppSettings.defaultFolder
    self.transport = transport
    if let defaultRequestTimeoutMS { self.defaultRequestTimeoutMS = defaultRequestTimeoutMS }
    if let enableSessionMultiplexing { self.enableSessionMultiplexing = enableSessionMultiplexing }
    self.syncTimeouts = syncTimeouts
    self.baseURL = baseURL
  }

  init(_ settings: AppSettings) {
    rootDirectory = settings.rootDirectory
    transport = settings.transport
    defaultRequestTimeoutMS = settings.requestTimeoutMS
    enableSessionMultiplexing = settings.sharesConnections
    syncTimeouts = settings.timeouts.map { SyncTimeoutOptions($0) }
    trustedCertificate = settings.trustedCertificate
    metadataKey = settings.metadataKey
    baseURL = settings.baseURL
  }

  /// The values of the configuration at this moment.
  var settings: AppSettings {
    AppSettings(
      baseURL: baseURL, transport: transport, requestTimeoutMS: defaultRequestTimeoutMS,
      sharesConnections: enableSessionMultiplexing, timeouts: syncTimeouts?.values,
      rootDirectory: rootDirectory, metadataKey: metadataKey, trustedCertificate: trustedCertificate)
  }
}

@available(*, unavailable)
extension AppConfiguration: Sendable {}

/// The values of an `AppConfiguration`, which can be passed between threads.
struct AppSettings: Sendable {
  var baseURL: String
  var transport: (any RLMNetworkTransportProtocol)?
  var requestTimeoutMS: UInt
  var sharesConnections: Bool
  var timeouts: SyncTimeouts?
  var rootDirectory: URL
  var metadataKey: Data?
  var trustedCertificate: URL?

  static var defaultFolder: URL { Realm.Configuration.defaultFileURL.deletingLastPathComponent() }

  /// Whether an app would behave the same with both.
  func isSame(as other: AppSettings) -> Bool {
    baseURL == other.baseURL && transport === other.transport && requestTimeoutMS == other.requestTimeoutMS
      && sharesConnections == other.sharesConnections && timeouts == other.timeouts
      && rootDirectory.standardizedFileURL == other.rootDirectory.standardizedFileURL
      && metadataKey == other.metadataKey && trustedCertificate == other.trustedCertificate
  }
}
