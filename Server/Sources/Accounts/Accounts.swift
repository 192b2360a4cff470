import Foundation
import RealmSwift
import Synchronization

/// The users of an app: who they are, how they log in, and which tokens stand for them.
///
/// All is stored in one realm file. Passwords and secrets are stored as hashes only. Methods may be called
/// from any task, and throw `AccountError`. One process uses a file at a time.
public final class Accounts: Sendable {
  let options: Options
  let file: AccountFile
  let passwords: Passwords
  /// The hash of a password that nobody knows. It is checked for users that there are not, so that this takes
  /// as long.
  let dummyHash: String
  let keys: Mutex<KeyRing>
  /// Log-ins that failed, or are not decided yet.
  let failures: AttemptCounter
  /// Users that were made without anything that costs their maker something.
  let creations: AttemptCounter
  /// Messages that were asked for.
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

  /// Opens the accounts of an app, and makes the file and the first signing key where there are none.
  ///
  /// - Throws: `AccountError` for options that are not valid; `Realm.Error` where the file can't be opened,
  ///   for example with another encryption key.
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

  /// Waits for messages that are being sent, and closes the file. Calls that come later throw
  /// `.serviceUnavailable`.
  public func close() async {
    await deliveries.settle()
    await file.close()
  }

  /// Writes a copy of the file, which is as small as can be, and encrypted with the same key. Only its owner
  /// may read and write it.
  ///
  /// - Throws: `Realm.Error`, for example where there is a file at `url` already; `AccountError`.
  public func backup(to url: URL) async throws { try await file.backup(to: url) }

  // MARK: - Revocations

  /// Calls `listener` each time that access ends, as soon as that is stored. It is called from any thread,
  /// and is to return soon.
  ///
  /// Listen before access tokens are verified: then no revocation is missed between the one and the other.
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

  /// Reads what is stored; what `body` throws is thrown on, other errors as `.internalServerError`.
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

  /// The same in a write transaction. Where `body` throws, nothing is changed. It hashes no password: others
  /// wait meanwhile.
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

  /// Removes tokens and sessions that have expired. This happens by itself once in an hour in which something
  /// is written.
  public func purge() async throws {
    let now = options.now()
    try await write { records in records.purge(now) }
  }

  // MARK: - Signing keys

  /// Makes a new key, which signs access tokens from now on. Tokens of the key before are accepted until they
  /// expire.
  ///
  /// There are two keys at most: to rotate twice ends all access tokens that were made before. Clients get
  /// new ones with their refresh tokens.
  public func rotateSigningKey() async throws {
    let now = options.now()
    try await read { records in
      let ring = try records.realm.write { () throws -> KeyRing in try records.rotateKeys(now) }
      // On the file's queue, so that of two rotations the later one counts here too.
      self.keys.withLock { $0 = ring }
    }
  }
}
