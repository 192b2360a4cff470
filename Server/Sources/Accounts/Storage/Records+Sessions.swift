import Foundation
import RealmSwift

/// A session that a log-in has begun or gone on with.
struct OpenedSession: Sendable {
  let account: Account
  let sessionID: String
  let deviceID: String
  let refreshToken: String
  /// The ids of sessions of the user that were removed to make room.
  let dropped: [String]
}

extension Records {
  func session(secretHash: String) -> StoredSession? {
    realm.object(ofType: StoredSession.self, forPrimaryKey: secretHash)
  }

  private func sessions(of userID: String) -> Results<StoredSession> {
    realm.objects(StoredSession.self).where { $0.userID == userID }
  }

  /// Whether a session of a user exists and has not expired.
  func hasSession(_ id: String, of userID: String, _ now: Date) -> Bool {
    let found = realm.objects(StoredSession.self).where { $0.sessionID == id }
    return found.contains { $0.userID == userID && $0.expiresAt > now }
  }

  /// Makes a refresh token, and returns everything that a log-in tells.
  ///
  /// - Parameter sessionID: the session that the token belongs to; nil for a new session.
  func openSession(
    for user: StoredUser, by proof: Proof, device: Accounts.Device, in sessionID: String? = nil, _ now: Date
  ) -> OpenedSession {
    let dropped = sessionID == nil ? makeRoom(for: user.id) : []
    let issued = Int(now.timeIntervalSince1970.rounded(.down))
    let expires = issued + Accounts.Bounds.refreshTokenLifetime
    let secret = RandomSecret()
    let session = StoredSession()
    session.secretHash = secret.hash(for: .refreshToken)
    session.sessionID = sessionID ?? Self.newID()
    session.userID = user.id
    if case .apiKey(let hash) = proof { session.keyID = key(secretHash: hash)?.id }
    session.deviceID = device.id ?? Self.newID()
    session.deviceName = device.name
    session.createdAt = now
    session.expiresAt = Date(timeIntervalSince1970: TimeInterval(expires))
    realm.add(session)
    user.lastLogIn = now
    return OpenedSession(
      account: Account(user), sessionID: session.sessionID, deviceID: session.deviceID,
      refreshToken: RefreshToken.text(of: secret, issued: issued, expires: expires), dropped: dropped)
  }

  /// Removes the oldest session of a user who has the greatest number of refresh tokens, and returns its id.
  private func makeRoom(for userID: String) -> [String] {
    let known = sessions(of: userID)
    guard known.count >= Accounts.Bounds.sessions, let oldest = known.sorted(by: \.createdAt).first else {
      return []
    }
    let id = oldest.sessionID
    removeSessions(named: [id])
    return [id]
  }

  /// Ends sessions.
  func removeSessions(named ids: [String]) {
    for id in ids { realm.delete(realm.objects(StoredSession.self).where { $0.sessionID == id }) }
  }

  /// Ends all sessions of a user.
  func removeSessions(of userID: String) { realm.delete(sessions(of: userID)) }

  /// Ends the sessions that an API key has begun, and returns the revocations to announce.
  func removeSessions(begunBy key: StoredAPIKey) -> [Revocation] {
    let (keyID, ownerID) = (key.id, key.ownerID)
    let found = realm.objects(StoredSession.self).where { $0.keyID == keyID }
    let ids = Set(found.map(\.sessionID)).sorted()
    removeSessions(named: ids)
    return ids.map { Revocation(userID: ownerID, sessionID: $0, reason: .sessionEnded) }
  }

  /// Removes what has expired.
  func purge(_ now: Date) {
    realm.delete(realm.objects(StoredSession.self).where { $0.expiresAt <= now })
    realm.delete(realm.objects(StoredMessageToken.self).where { $0.expiresAt <= now })
    // The loop goes over a copy, because objects that are deleted leave the results.
    for key in Array(realm.objects(StoredSigningKey.self)) {
      if let retired = key.retiredAt, now >= Self.end(ofTokensUntil: retired) { realm.delete(key) }
    }
  }
}
