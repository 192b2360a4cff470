import Foundation
import RealmSwift
import Synchronization

extension Accounts {
  /// Verifies an access token, and returns the user and the session that it stands for.
  ///
  /// The signature is checked before anything of the token is read. Then the user has to exist and not be disabled, and
  /// the session must not have ended.
  ///
  /// - Throws: `AccountError`: `.invalidSession` for a token that is forged, of another app, expired or
  ///   revoked, or whose user is deleted; `.userDisabled`.
  public func verify(_ accessToken: String) async throws -> Access {
    let now = options.now()
    let ring = keys.withLock { $0 }
    let claims = try AccessToken.claims(of: accessToken, signedBy: ring, app: options.app, now)
    return try await read { records in
      guard let user = records.user(claims.sub), records.hasSession(claims.sid, of: claims.sub, now) else {
        throw AccountError.endedSession
      }
      guard !user.isDisabled else { throw AccountError.disabledUser }
      return Access(
        account: Account(user), sessionID: claims.sid,
        issuedAt: Date(timeIntervalSince1970: TimeInterval(claims.iat)),
        expiresAt: Date(timeIntervalSince1970: TimeInterval(claims.exp)))
    }
  }

  /// Makes a new access token. The refresh token stays the same, and its time is not extended.
  ///
  /// - Throws: `AccountError`: `.invalidSession` for a token that is not known, has expired or was revoked;
  ///   `.userDisabled`.
  public func refresh(_ refreshToken: String) async throws -> String {
    guard let hash = RefreshToken.hash(of: refreshToken) else { throw AccountError.endedSession }
    let now = options.now()
    let (account, sessionID) = try await read { records -> (Account, String) in
      guard let session = records.session(secretHash: hash), session.expiresAt > now,
        let user = records.user(session.userID)
      else { throw AccountError.endedSession }
      guard !user.isDisabled else { throw AccountError.disabledUser }
      return (Account(user), session.sessionID)
    }
    return self.accessToken(for: account, sessionID: sessionID, now: now)
  }

  /// Ends the session of a refresh token. All access tokens of the session end with it, and so do the refresh tokens
  /// that it got when identities were linked.
  ///
  /// - Throws: `AccountError.Code.invalidSession` if there is no such session any more.
  public func logOut(_ refreshToken: String) async throws {
    guard let hash = RefreshToken.hash(of: refreshToken) else { throw AccountError.endedSession }
    let revocation = try await write { records -> Revocation in
      guard let session = records.session(secretHash: hash) else { throw AccountError.endedSession }
      let (userID, sessionID) = (session.userID, session.sessionID)
      records.removeSessions(named: [sessionID])
      return Revocation(userID: userID, sessionID: sessionID, reason: .sessionEnded)
    }
    announce([revocation])
  }

  func accessToken(for account: Account, sessionID: String, now: Date) -> String {
    let issued = Int(now.timeIntervalSince1970.rounded(.down))
    let claims = AccessClaims(
      app: options.app, exp: issued + Bounds.accessTokenLifetime, iat: issued, sid: sessionID,
      sub: account.id)
    let key = keys.withLock { $0.current }
    return AccessToken.text(of: claims, customData: account.customData, signedBy: key)
  }
}
