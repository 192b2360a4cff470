import Foundation
import RealmSwift

/// A user as it was when it was read. The value does not change.
public struct Account: Sendable, Equatable, Identifiable {
  /// A way to log in. The raw values are the names that stand in requests.
  public enum Provider: String, Sendable, CaseIterable {
    /// An anonymous log-in. Each one makes a user of its own.
    case anonymous = "anon-user"
    /// An e-mail address and a password.
    case emailPassword = "local-userpass"
    /// An API key, of a user or of the server.
    case apiKey = "api-key"
  }

  /// An identity, as which a user logs in.
  public struct Identity: Sendable, Equatable {
    /// The id of the identity: 24 hexadecimal digits.
    public let id: String
    /// The way to log in.
    public let provider: Provider

    /// An identity with its id and its provider.
    public init(id: String, provider: Provider) {
      self.id = id
      self.provider = provider
    }
  }

  /// The id of the user: 24 hexadecimal digits. It never changes, and no other user gets it.
  public let id: String
  /// The e-mail address, with small letters for A to Z; nil if the user has none.
  public let email: String?
  /// True if somebody who can read the mail of the address, or an administrator, has confirmed it, and for users who
  /// registered with `autoConfirm`. It is false without an address.
  public let isConfirmed: Bool
  /// True if the user may not log in and the user's tokens are not accepted.
  public let isDisabled: Bool
  /// The identities of the user, the oldest first.
  public let identities: [Identity]
  /// The text of a JSON object that an administrator has set; nil if there is none.
  public let customData: String?
  /// The roles that an administrator has given the user, for rules of permission.
  public let roles: [String]
  /// The time at which the user was made.
  public let createdAt: Date
  /// The time at which the user logged in last; nil before the first log-in.
  public let lastLogIn: Date?

  /// Whether the user has nothing but anonymous identities.
  public var isAnonymous: Bool { identities.allSatisfy { $0.provider == .anonymous } }
}

extension Account {
  init(_ user: StoredUser) {
    id = user.id
    email = user.email
    isConfirmed = user.isConfirmed
    isDisabled = user.isDisabled
    // A later version of the server may have stored identities that this one does not know.
    identities = user.identities.compactMap { identity in
      Provider(rawValue: identity.provider).map { Identity(id: identity.id, provider: $0) }
    }
    customData = user.customData
    roles = Array(user.roles)
    createdAt = user.createdAt
    lastLogIn = user.lastLogIn
  }
}
