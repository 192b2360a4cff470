import Foundation

extension Accounts {
  /// How accounts of an app are kept.
  public struct Options: Sendable {
    /// The id of the app, which stands in access tokens: 1 to 64 ASCII letters, digits, dots, hyphens and
    /// underscores.
    public var app: String
    /// The file, which is made where there is none. Only its owner may read and write it. Its folder is to be
    /// there.
    public var fileURL: URL
    /// 64 bytes that the file is encrypted with; nil for a file that is not.
    public var encryptionKey: Data?
    /// The ways to log in that are switched on: all of them at first.
    public var providers = Set(Account.Provider.allCases)
    /// Users who register are confirmed at once, and no message is sent to them.
    public var autoConfirm = false
    /// Delivers confirmations and resets of passwords. Without one, an administrator confirms users and sets
    /// passwords.
    public var messenger: (any Messenger)?
    /// How many attempts are allowed.
    public var limits = Limits()
    /// The time. Tests give a clock of their own.
    public var now: @Sendable () -> Date = { Date() }
    /// Is called with errors of storage and of messages that clients are not told in detail, to be logged.
    public var report: @Sendable (any Error) -> Void = { _ in }
    /// What it costs to hash a password. Tests make it cheap.
    var passwordCost = PasswordCost.standard

    /// The accounts of an app in a file, with all else as described at the properties.
    public init(app: String, fileURL: URL) {
      self.app = app
      self.fileURL = fileURL
    }

    /// - Throws: `AccountError`.
    func check() throws {
      guard Texts.isAppID(app) else {
        throw AccountError(
          .invalidParameter,
          "The app's id is not valid. Use 1 to 64 ASCII letters, digits, dots, hyphens and underscores.")
      }
      guard encryptionKey.map({ $0.count == 64 }) ?? true else {
        throw AccountError(.invalidParameter, "The encryption key of the accounts has not 64 bytes. Give 64.")
      }
    }
  }

  /// How many attempts are allowed within some time. A client's address is the text that is given as
  /// `address`.
  public struct Limits: Sendable, Equatable {
    /// Wrong passwords for one account.
    public var failuresPerAccount = 10
    /// Wrong passwords and API keys from one address.
    public var failuresPerAddress = 50
    /// Messages that are asked for to be sent to one e-mail address.
    public var messagesPerAccount = 5
    /// Messages that are asked for from one address.
    public var messagesPerAddress = 50
    /// Users that one address may make, anonymously or by an e-mail address that nobody confirms.
    public var usersPerAddress = 200
    /// The time within which attempts are counted, in seconds.
    public var seconds: TimeInterval = 600

    /// The limits that are described at the properties.
    public init() {}
  }

  /// What does not change from app to app.
  enum Bounds {
    /// How long an access token is valid, in seconds.
    static let accessTokenLifetime = 30 * 60
    /// By how many seconds clocks may differ.
    static let clockSkew = 30
    /// How long a refresh token is valid, in seconds.
    static let refreshTokenLifetime = 60 * 24 * 60 * 60
    /// How long the token of a reset is valid, in seconds.
    static let resetLifetime = 30 * 60
    /// How long the token of a confirmation is valid, in seconds.
    static let confirmationLifetime = 24 * 60 * 60
    /// How many refresh tokens a user has at most. The oldest goes for the one beyond.
    static let sessions = 1000
    /// How many API keys a user has at most.
    static let apiKeys = 100
    /// How many bytes of custom data a user has at most: they stand in each access token, which has to fit
    /// into a header.
    static let customData = 4096
    /// How many roles a user has at most.
    static let roles = 64
    /// How many users one page lists at most.
    static let page = 1000
    /// What has expired is removed after so many seconds at the earliest.
    static let purgeInterval: TimeInterval = 60 * 60
  }
}
