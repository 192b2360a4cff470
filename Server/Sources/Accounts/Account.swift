import Foundation
import RealmSwift

/// A user as it was when it was read: a value that does not change.
public struct Account: Sendable, Equatable, Identifiable {
  /// A way to log in. The raw values are the names that stand in requests.
  public enum Provider: String, Sendable, CaseIterable {
    /// Each log-in makes a user of its own.
    case anonymous = "anon-user"
    /// An e-mail address and a password.
    case emailPassword = "local-userpass"
    /// An API key, of a user or of the server.
    case apiKey = "api-key"
  }

  /// What a user logs in as.
  public struct Identity: Sendable, Equatable {
    /// 24 hexadecimal digits.
    public let id: String
    /// The way to log in.
    public let provider: Provider

    /// An identity with its id and its provider.
    public init(id: String, provider: Provider) {
      self.id = id
      self.provider = provider
    }
  }

  /// 24 hexadecimal digits. It never changes, and no other user gets it.
  public let id: String
  /// The e-mail address in small letters; nil where the user has none.
  public let email: String?
  /// Somebody who can read the address's mail, or an administrator, has confirmed it. False without an
  /// address.
  public let isConfirmed: Bool
  /// The user may not log in, and tokens are not accepted.
  public let isDisabled: Bool
  /// What the user logs in as, the oldest first.
  public let identities: [Identity]
  /// The text of a JSON object that an administrator has set; nil where none has.
  public let customData: String?
  /// What an administrator has named the user, for rules of permission.
  public let roles: [String]
  /// When the user was made.
  public let createdAt: Date
  /// When the user logged in last; nil before the first time.
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
