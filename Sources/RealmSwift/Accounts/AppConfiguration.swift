public import Foundation

/// How an `App` reaches its server, and where it keeps what it knows. An app copies its configuration.
///
///     let app = App(id: "notes", configuration: AppConfiguration(baseURL: "https://sync.example.org"))
public final class AppConfiguration {
  /// Nothing answers there for this library.
  static let defaultBaseURL = "https://services.cloud.mongodb.com"

  private var address: String?

  /// The address of the server, which begins with `https://` or `http://`. Nil sets it back to the default, which is an address that this
  /// library does not use: each request to it fails at once. An app that logs in has to set it.
  public var baseURL: String! {
    get { address ?? Self.defaultBaseURL }
    set { address = newValue?.isEmpty == false ? newValue : nil }
  }

  /// What sends requests; nil for one of the library's own. WebSockets do not pass through it.
  public var transport: (any RLMNetworkTransportProtocol)?

  /// How long a request may take, in milliseconds; 0 for any time. 60,000 at first.
  public var defaultRequestTimeoutMS: UInt = 60_000

  /// Whether all sessions of a user share one connection; true at first.
  public var enableSessionMultiplexing = true

  /// How long sessions wait; nil for the default.
  public var syncTimeouts: SyncTimeoutOptions?

  /// The folder in which the folder `mongodb-realm` is made, which holds the realms of users and what is known of them. At first it is the folder of
  /// the default realm.
  public var rootDirectory: URL

  /// 64 bytes, by which the file that holds users and their tokens is encrypted. Nil, as at first, for a key of its own,
  /// which is made once and kept in a file beside it that only its owner may read: this protects copies of the one file without the other. An
  /// app that can keep a key in a better place gives it here. With another key than before users must log in again.
  public var metadataKey: Data? {
    didSet {
      guard let metadataKey, metadataKey.count != 64 else { return }
      raise(
        "Invalid encryption key",
        "AppConfiguration.metadataKey has \(metadataKey.count) bytes; give 64, for example from a keychain.")
    }
  }

  /// A file with certificates in the form PEM that are trusted beside those of the system, for a server that has made its own; nil for none.
  public var trustedCertificate: URL?

  /// A configuration with the defaults.
  public init() { rootDirectory = AppSettings.defaultFolder }

  /// A configuration; each parameter is described at the property of its name. Nil stands for the default.
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

  /// The same as a value.
  var settings: AppSettings {
    AppSettings(
      baseURL: baseURL, transport: transport, requestTimeoutMS: defaultRequestTimeoutMS,
      sharesConnections: enableSessionMultiplexing, timeouts: syncTimeouts?.values,
      rootDirectory: rootDirectory, metadataKey: metadataKey, trustedCertificate: trustedCertificate)
  }
}

@available(*, unavailable)
extension AppConfiguration: Sendable {}

/// `AppConfiguration` as a value.
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

  /// Whether an app would do the same with both.
  func isSame(as other: AppSettings) -> Bool {
    baseURL == other.baseURL && transport === other.transport && requestTimeoutMS == other.requestTimeoutMS
      && sharesConnections == other.sharesConnections && timeouts == other.timeouts
      && rootDirectory.standardizedFileURL == other.rootDirectory.standardizedFileURL
      && metadataKey == other.metadataKey && trustedCertificate == other.trustedCertificate
  }
}
