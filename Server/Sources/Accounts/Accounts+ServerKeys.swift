import Foundation
import RealmSwift

/// The API keys that an administrator makes. Each key logs in a user of its own, which has no other identity at first.
/// To end its access, delete or disable the key, or that user.
extension Accounts {
  /// Makes a key, and the user that it logs in.
  ///
  /// - Parameter name: 1 to 128 characters; no other key of the server has this name.
  /// - Throws: `AccountError`: `.apiKeyAlreadyExists`; `.invalidParameter` for a name that is not allowed.
  public func createServerAPIKey(name: String) async throws -> NewAPIKey {
    try Texts.checkName(name, of: "API key")
    let (secret, now) = (RandomSecret(), options.now())
    let info = try await write { records in
      guard records.serverKeys().where({ $0.name == name }).isEmpty else { throw AccountError.keyNameInUse }
      let user = records.addUser(.apiKey, now)
      return APIKey(try records.addKey(name, of: user, isServerKey: true, secret, now))
    }
    return NewAPIKey(key: APIKeyText.text(of: secret), info: info)
  }

  /// Returns the keys that an administrator has made, the oldest first.
  public func serverAPIKeys() async throws -> [APIKey] {
    try await read { records in records.serverKeys().sorted(by: \.id).map { APIKey($0) } }
  }

  /// Lets a key of the server log in again. Nothing changes if it can already.
  ///
  /// - Throws: `AccountError.Code.valueNotFound`.
  public func enableServerAPIKey(_ id: String) async throws {
    try await write { records in try records.serverKey(id).isDisabled = false }
  }

  /// Lets a key of the server log in no more, and ends the sessions that it began.
  ///
  /// - Throws: `AccountError.Code.valueNotFound`.
  public func disableServerAPIKey(_ id: String) async throws {
    let ended = try await write { records -> [Revocation] in
      let key = try records.serverKey(id)
      key.isDisabled = true
      return records.removeSessions(begunBy: key)
    }
    announce(ended)
  }

  /// Removes a key of the server, and the user that it logs in.
  ///
  /// - Throws: `AccountError.Code.valueNotFound`.
  public func deleteServerAPIKey(_ id: String) async throws {
    let owner = try await write { records -> String in
      let key = try records.serverKey(id)
      let owner = key.ownerID
      if let user = records.user(owner) {
        records.remove(user)
      } else {
        records.realm.delete(key)
      }
      return owner
    }
    announce([Revocation(userID: owner, sessionID: nil, reason: .userDeleted)])
  }
}
