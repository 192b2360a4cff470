import Foundation
import Synchronization

/// Counts attempts within some time by keys, such as accounts. It holds a limited number of keys, and of times for each
/// key.
struct Attempts: Sendable {
  /// The greatest number of attempts of a key within that time.
  let most: Int
  /// The time within which they are counted, in seconds.
  let seconds: TimeInterval
  /// The greatest number of keys that are held.
  let capacity: Int
  private var times: [String: [Date]] = [:]

  init(most: Int, seconds: TimeInterval, capacity: Int) {
    self.most = most
    self.seconds = seconds
    self.capacity = max(1, capacity)
  }

  /// The number of keys that are held.
  var count: Int { times.count }

  /// Counts an attempt. If it is one too many, it is not counted and the result is false. So a limit ends when its
  /// oldest attempt is old.
  mutating func add(_ key: String, _ now: Date) -> Bool {
    let recent = (times[key] ?? []).filter { now.timeIntervalSince($0) < seconds }
    guard recent.count < most else { return false }
    if times[key] == nil, times.count >= capacity { makeRoom(now) }
    times[key] = recent + [now]
    return true
  }

  /// Forgets an attempt that was made at a time.
  mutating func takeBack(_ key: String, _ time: Date) {
    guard var known = times[key], let place = known.firstIndex(of: time) else { return }
    known.remove(at: place)
    times[key] = known.isEmpty ? nil : known
  }

  /// Forgets all attempts of a key.
  mutating func forget(_ key: String) { times[key] = nil }

  private mutating func makeRoom(_ now: Date) {
    times = times.filter { _, times in times.contains { now.timeIntervalSince($0) < seconds } }
    guard times.count >= capacity else { return }
    // The keys whose last attempt is the longest ago are removed. Several are removed at a time, so that this happens
    // seldom.
    let oldest = times.sorted { ($0.value.last ?? .distantPast) < ($1.value.last ?? .distantPast) }
    for (key, _) in oldest.prefix(max(1, capacity / 4)) { times[key] = nil }
  }
}

/// Limits attempts by the account and by the address of the client.
final class AttemptCounter: Sendable {
  /// An attempt that was counted.
  struct Attempt: Sendable {
    fileprivate let account: String?
    fileprivate let address: String
    fileprivate let time: Date
  }

  private struct State {
    var accounts: Attempts
    var addresses: Attempts
  }

  /// The greatest number of accounts, and of addresses, that are held.
  private static let capacity = 16_384
  /// The greatest size of a client's address in bytes. Longer addresses are cut.
  private static let longestAddress = 128

  private let state: Mutex<State>

  init(perAccount: Int, perAddress: Int, seconds: TimeInterval) {
    state = Mutex(
      State(
        accounts: Attempts(most: perAccount, seconds: seconds, capacity: Self.capacity),
        addresses: Attempts(most: perAddress, seconds: seconds, capacity: Self.capacity)))
  }

  /// Counts an attempt.
  ///
  /// - Parameter account: the account of the attempt; nil if it is not known. Then the attempt counts for the address
  ///   alone.
  /// - Throws: `AccountError.Code.tooManyRequests`.
  func begin(account: String?, address: String, _ now: Date) throws -> Attempt {
    let address = String(decoding: address.utf8.prefix(Self.longestAddress), as: UTF8.self)
    let isAllowed = state.withLock { state -> Bool in
      guard state.addresses.add(address, now) else { return false }
      guard let account, !state.accounts.add(account, now) else { return true }
      state.addresses.takeBack(address, now)
      return false
    }
    guard isAllowed else {
      throw AccountError(.tooManyRequests, "There were too many attempts. Wait some minutes, and try again.")
    }
    return Attempt(account: account, address: address, time: now)
  }

  /// Forgets an attempt, because it succeeded or was not decided.
  func takeBack(_ attempt: Attempt) {
    state.withLock { state in
      state.addresses.takeBack(attempt.address, attempt.time)
      if let account = attempt.account { state.accounts.takeBack(account, attempt.time) }
    }
  }

  /// Forgets all attempts at an account, because its owner has proved to be the owner.
  func forget(account: String) { state.withLock { $0.accounts.forget(account) } }
}
