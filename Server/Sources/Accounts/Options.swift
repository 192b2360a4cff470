import Foundation

extension Accounts {
  /// The options for the accounts of an app.
  public struct Options: Sendable {
    /// The id of the app, which access tokens contain: 1 to 64 ASCII letters, digits, dots, hyphens and underscores.
    public var app: String
    /// The file. It is made if it does not exist. Only its owner may read and write it. Its folder has to exist.
    public var fileURL: URL
    /// The key that the file is encrypted with, 64 bytes; nil for a file that is not encrypted.
    public var encryptionKey: Data?
    /// The ways to log in that are switched on. The default is all of them.
    public var providers = Set(Account.Provider.allCases)
    /// True if users who register are confirmed at once and no message is sent to them.
    public var autoConfirm = false
    /// The messenger that delivers confirmations and resets of passwords. Without one, an administrator confirms users
    /// and sets passwords.
    public var messenger: (any Messenger)?
    /// The limits on attempts.
    public var limits = Limits()
    /// The clock. Tests set a clock of their own.
    public var now: @Sendable () -> Date = { Date() }
    /// It is called with errors of storage and of messages, which clients are not told in detail, to log them.
    public var report: @Sendable (any Error) -> Void = { _ in }
    /// The cost of hashing a password. Tests make it cheap.
    var passwordCost = PasswordCost.standard

    /// Makes options for an app and a file. All else has its default.
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

  /// The limits on attempts within some time. A client's address is the text that is passed as `address`.
  public struct Limits: Sendable, Equatable {
    /// The greatest number of wrong passwords for one account.
    public var failuresPerAccount = 10
    /// The greatest number of wrong passwords and API keys from one address.
    public var failuresPerAddress = 50
    /// The greatest number of messages to one e-mail address that may be asked for.
    public var messagesPerAccount = 5
    /// The greatest number of messages that may be asked for from one address.
    public var messagesPerAddress = 50
    /// The greatest number of users that one address may make, anonymously or by a registration without a message.
    public var usersPerAddress = 200
    /// The time within which attempts are counted, in seconds.
    public var seconds: TimeInterval = 600

    /// Makes limits with their defaults.
    public init() {}
  }

  /// The limits that are the same for all apps.
  enum Bounds {
    /// The time for which an access token is valid, in seconds.
    static let accessTokenLifetime = 30 * 60
    /// The number of seconds by which clocks may differ.
    static let clockSkew = 30
    /// The time for which a refresh token is valid, in seconds.
    static let refreshTokenLifetime = 60 * 24 * 60 * 60
    /// The time for which the token of a reset is valid, in seconds.
    static let resetLifetime = 30 * 60
    /// The time for which the token of a confirmation is valid, in seconds.
    static let confirmationLifetime = 24 * 60 * 60
    /// The greatest number of refresh tokens of a user. For a further log-in the oldest session is removed.
    static let sessions = 1000
    /// The greatest number of API keys of a user.
    static let apiKeys = 100
    /// The greatest size of the custom data of a user in bytes. It is limited because each access token contains the
    /// data and has to fit into a header.
    static let customData = 4096
    /// The greatest number of roles of a user.
    static let roles = 64
    /// The greatest number of users on one page.
    static let page = 1000
    /// The least time between two removals of what has expired, in seconds.
    static let purgeInterval: TimeInterval = 60 * 60
  }
}
