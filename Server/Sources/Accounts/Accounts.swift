import Foundation
import RealmSwift
import Synchronization

/// The users of an app: who they are, how they log in, and which tokens stand for them.
///
/// Everything is stored in one realm file. Passwords and secrets are stored as hashes only. Methods may be called from
/// any task, and throw `AccountError`. Only one process at a time may use a file.
public final class Accounts: Sendable {
  let options: Options
  let file: AccountFile
  let passwords: Passwords
  /// The hash of a password that nobody knows. It is checked for users that do not exist, so that this takes as long as
  /// for others.
  let dummyHash: String
  let keys: Mutex<KeyRing>
  /// Counts log-ins that failed or are not decided yet.
  let failures: AttemptCounter
  /// Counts users that were made without a mail: anonymous ones, and those that registered when no message was sent.
  let creations: AttemptCounter
  /// Counts messages that were asked for.
  let sendings: AttemptCounter
  let deliveries = Deliveries()
  private let listeners = Mutex<[@Sendable (Revocation) -> Void]>([])
  private let lastPurge: Mutex<Date>

  private init(
    _ options: Options, _ file: AccountFile, _ passwords: Passwords, dummyHash: String, _ ring: KeyRing
  ) {
    self.options = options
    self.file = file
    self.passwords = passwords
    self.dummyHash = dummyHash
    keys = Mutex(ring)
    let limits = options.limits
    failures = AttemptCounter(
      perAccount: limits.failuresPerAccount, perAddress: limits.failuresPerAddress, seconds: limits.seconds)
    creations = AttemptCounter(
      perAccount: .max, perAddress: limits.usersPerAddress, seconds: limits.seconds)
    sendings = AttemptCounter(
      perAccount: limits.messagesPerAccount, perAddress: limits.messagesPerAddress, seconds: limits.seconds)
    lastPurge = Mutex(options.now())
  }

  /// Opens the accounts of an app. If there is no file or no signing key, it makes them.
  ///
  /// - Throws: `AccountError` for options that are not valid; `Realm.Error` if the file can't be opened, for example
  ///   with another encryption key.
  public static func open(_ options: Options) async throws -> Accounts {
    try options.check()
    guard Sodium.isReady else {
      throw AccountError(
        .internalServerError, "libsodium can't start: the system gives no random numbers. Check the system.")
    }
    let file = try AccountFile(options.fileURL, encryptionKey: options.encryptionKey)
    try await file.open()
    let passwords = Passwords(cost: options.passwordCost)
    let dummyHash = try await passwords.hash(Password(RandomSecret().text))
    let now = options.now()
    let ring = try await file.perform { records in try records.openKeys(now) }
    return Accounts(options, file, passwords, dummyHash: dummyHash, ring)
  }

  /// Waits for messages that are being sent, and closes the file. Later calls that need the file throw
  /// `.serviceUnavailable`, except `backup(to:)`, which opens the file itself.
  public func close() async {
    await deliveries.settle()
    await file.close()
  }

  /// Writes a copy of the file. The copy is as small as it can be, and is encrypted with the same key. Only its owner
  /// may read and write it.
  ///
  /// - Throws: `Realm.Error`, for example if there is a file at `url` already; `AccountError`.
  public func backup(to url: URL) async throws { try await file.backup(to: url) }

  // MARK: - Revocations

  /// Calls `listener` each time that access ends, as soon as that is stored. The listener is called from any thread,
  /// and has to return soon.
  ///
  /// Add the listener before access tokens are verified, so that no revocation is missed in between.
  public func onRevocation(_ listener: @escaping @Sendable (Revocation) -> Void) {
    listeners.withLock { $0.append(listener) }
  }

  func announce(_ revocations: [Revocation]) {
    guard !revocations.isEmpty else { return }
    let all = listeners.withLock { $0 }
    for revocation in revocations {
      for listener in all { listener(revocation) }
    }
  }

  // MARK: - Storage

  /// Calls `body` with the stored records. An `AccountError` of `body` is thrown as it is, and other errors are thrown
  /// as `.internalServerError`.
  func read<Answer: Sendable>(
    _ body: @escaping @Sendable (Records) throws -> Answer
  ) async throws -> Answer {
    do {
      return try await file.perform(body)
    } catch let error as AccountError {
      throw error
    } catch {
      options.report(error)
      throw AccountError(
        .internalServerError,
        "The server could not read or write its accounts. Try again later; its log says more.")
    }
  }

  /// Calls `body` as `read` does, in a write transaction. If `body` throws, nothing is changed. `body` must not hash
  /// passwords, because other calls wait meanwhile.
  func write<Answer: Sendable>(
    _ body: @escaping @Sendable (Records) throws -> Answer
  ) async throws -> Answer {
    let now = options.now()
    let isDue = lastPurge.withLock { last in
      guard now.timeIntervalSince(last) >= Bounds.purgeInterval else { return false }
      last = now
      return true
    }
    return try await read { records in
      try records.realm.write { () throws -> Answer in
        if isDue { records.purge(now) }
        return try body(records)
      }
    }
  }

  /// Removes tokens and sessions that have expired. This happens by itself with a write, at most once in an hour.
  public func purge() async throws {
    let now = options.now()
    try await write { records in records.purge(now) }
  }

  // MARK: - Signing keys

  /// Makes a new key, which signs access tokens from now on. Tokens of the previous key are accepted until they expire.
  ///
  /// There are two keys at most. A second rotation soon after the first ends all access tokens that were made before
  /// the first. Clients get new access tokens with their refresh tokens.
  public func rotateSigningKey() async throws {
    let now = options.now()
    try await read { records in
      let ring = try records.realm.write { () throws -> KeyRing in try records.rotateKeys(now) }
      // This happens on the file's queue, so that the later one of two rotations counts here too.
      self.keys.withLock { $0 = ring }
    }
  }
}
