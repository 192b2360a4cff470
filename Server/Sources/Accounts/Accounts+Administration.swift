import Foundation
import RealmSwift

/// The methods by which administrators manage users. They do not check whether the caller may do that: the caller has
/// to check it before.
extension Accounts {
  /// Returns users in the order in which they were made, a page at a time.
  ///
  /// - Parameters:
  ///   - last: the id of the last user of the page before; nil for the first page.
  ///   - limit: the greatest number of users of the page, 1 to 1000.
  /// - Throws: `AccountError.Code.invalidParameter` for an id or a limit that is not valid.
  public func users(after last: String? = nil, limit: Int = 50) async throws -> [Account] {
    guard (1...Bounds.page).contains(limit), last.map(Texts.isID) ?? true else {
      throw AccountError(
        .invalidParameter, "The page is not valid. Give a limit of 1 to \(Bounds.page), and a user's id.")
    }
    return try await read { records in records.users(after: last, limit: limit).map { Account($0) } }
  }

  /// Returns a user by its id. Users may use it for themselves, too.
  ///
  /// - Throws: `AccountError.Code.userNotFound`.
  public func user(_ id: String) async throws -> Account {
    try await read { records in Account(try records.existingUser(id)) }
  }

  /// Returns the user who has an e-mail address.
  ///
  /// - Throws: `AccountError`: `.userNotFound`; `.invalidParameter` for a text that is not an address.
  public func user(email: String) async throws -> Account {
    let email = try EmailAddress(email)
    return try await read { records in
      guard let user = records.user(email: email.text) else { throw AccountError.unknownUser }
      return Account(user)
    }
  }

  /// Keeps a user out: log-ins of the user are refused, and so are existing tokens. They are accepted again when the
  /// user is enabled.
  ///
  /// - Throws: `AccountError.Code.userNotFound`.
  public func disableUser(_ id: String) async throws {
    try await write { records in try records.existingUser(id).isDisabled = true }
    announce([Revocation(userID: id, sessionID: nil, reason: .userDisabled)])
  }

  /// Lets a user in again.
  ///
  /// - Throws: `AccountError.Code.userNotFound`.
  public func enableUser(_ id: String) async throws {
    try await write { records in try records.existingUser(id).isDisabled = false }
  }

  /// Removes a user with its identities, sessions and keys. Users may use it for themselves, too.
  ///
  /// - Throws: `AccountError.Code.userNotFound`.
  public func deleteUser(_ id: String) async throws {
    try await write { records in records.remove(try records.existingUser(id)) }
    announce([Revocation(userID: id, sessionID: nil, reason: .userDeleted)])
  }

  /// Ends all sessions of a user, who has to log in again.
  ///
  /// - Throws: `AccountError.Code.userNotFound`.
  public func revokeSessions(of id: String) async throws {
    try await write { records in records.removeSessions(of: try records.existingUser(id).id) }
    announce([Revocation(userID: id, sessionID: nil, reason: .sessionsRevoked)])
  }

  /// Sets the data that access tokens contain about a user. Tokens that are made from now on contain it.
  ///
  /// - Parameter json: the text of a JSON object of 4096 bytes at most; nil for none.
  /// - Throws: `AccountError`: `.userNotFound`; `.invalidParameter`.
  public func setCustomData(_ json: String?, of id: String) async throws {
    if let json { try Texts.checkObject(json) }
    try await write { records in try records.existingUser(id).customData = json }
  }

  /// Sets the roles of a user, in their order. A role that is named twice counts once.
  ///
  /// - Parameter roles: 64 at most, of 1 to 128 characters each.
  /// - Throws: `AccountError`: `.userNotFound`; `.invalidParameter`.
  public func setRoles(_ roles: [String], of id: String) async throws {
    guard roles.count <= Bounds.roles else {
      throw AccountError(
        .invalidParameter, "There are too many roles. A user can have \(Bounds.roles); join some of them.")
    }
    for role in roles { try Texts.checkName(role, of: "role") }
    var seen = Set<String>()
    let distinct = roles.filter { seen.insert($0).inserted }
    try await write { records in
      let user = try records.existingUser(id)
      user.roles.removeAll()
      user.roles.append(objectsIn: distinct)
    }
  }

  /// Sets the password of a user who has an e-mail address, and ends all its sessions.
  ///
  /// - Throws: `AccountError`: `.userNotFound`; `.invalidParameter` for a password that is too short or too
  ///   long, and for a user without an e-mail address; `.serviceUnavailable`.
  public func setPassword(_ password: String, of id: String) async throws {
    let password = try Password(password)
    try await read { records in _ = try records.userWithEmail(id) }
    let hash = try await passwords.hash(password)
    let email = try await write { records -> String? in
      let user = try records.userWithEmail(id)
      user.passwordHash = hash
      records.removeTokens(of: user, .reset)
      records.removeSessions(of: user.id)
      return user.email
    }
    if let email { failures.forget(account: email) }
    announce([Revocation(userID: id, sessionID: nil, reason: .sessionsRevoked)])
  }

  /// Confirms the e-mail address of a user without a message.
  ///
  /// - Throws: `AccountError`: `.userNotFound`; `.invalidParameter` for a user without an e-mail address;
  ///   `.userAlreadyConfirmed`.
  public func confirmUser(_ id: String) async throws {
    try await write { records in
      let user = try records.userWithEmail(id)
      guard !user.isConfirmed else { throw AccountError.alreadyConfirmed }
      user.isConfirmed = true
      records.removeTokens(of: user, .confirm)
    }
  }
}
