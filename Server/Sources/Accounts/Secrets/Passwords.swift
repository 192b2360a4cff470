import Dispatch
import Synchronization

/// The cost of one hash of a password, both for the server and for somebody who guesses passwords.
struct PasswordCost: Sendable {
  /// The number of passes over the memory.
  var operations: UInt64
  /// The number of bytes of memory.
  var memory: Int

  /// 3 passes over 64 MiB. They take about a tenth of a second.
  static let standard = PasswordCost(operations: 3, memory: 64 << 20)
  /// The least cost that libsodium accepts, for tests.
  static let least = PasswordCost(operations: 1, memory: 8192)
}

/// Hashes passwords on threads of its own. It hashes a few at a time, because each needs much memory and a processor.
/// The queue of those that wait has a limit.
final class Passwords: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    var running = 0
    var waiting: [Job] = []
  }

  /// The number of passwords that are hashed at a time.
  static let workers = 2
  /// The greatest number of passwords that wait.
  static let places = 64

  private let cost: PasswordCost
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "realm-server.passwords", attributes: .concurrent)

  init(cost: PasswordCost) { self.cost = cost }

  /// Returns the hash of a password in the form in which it is stored.
  ///
  /// - Throws: `AccountError.Code.serviceUnavailable` if too many wait, or there is not enough memory.
  func hash(_ password: Password) async throws -> String {
    let hash = try await run { [cost] in Sodium.passwordHash(password, cost) }
    guard let hash else { throw Self.noMemory }
    return hash
  }

  /// Whether a stored hash is that of a password.
  ///
  /// - Throws: `AccountError.Code.serviceUnavailable` if too many wait, or there is not enough memory.
  func matches(_ password: Password, _ hash: String) async throws -> Bool {
    let isRight = try await run { Sodium.isPassword(password, of: hash) }
    guard let isRight else { throw Self.noMemory }
    return isRight
  }

  /// Runs work on one of the threads when its turn comes.
  ///
  /// - Throws: `AccountError.Code.serviceUnavailable` if too many wait.
  func run<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Answer, any Error>) in
      let isTaken = take { continuation.resume(returning: work()) }
      if !isTaken { continuation.resume(throwing: Self.tooMany) }
    }
  }

  private enum Place { case runs, waits, none }

  /// Takes in a job. Returns false if there is no place for it.
  private func take(_ job: @escaping Job) -> Bool {
    let place = state.withLock { state -> Place in
      if state.running < Self.workers {
        state.running += 1
        return .runs
      }
      guard state.waiting.count < Self.places else { return .none }
      state.waiting.append(job)
      return .waits
    }
    if place == .runs { queue.async { self.work(from: job) } }
    return place != .none
  }

  /// Runs a job, and then those that wait.
  private func work(from first: @escaping Job) {
    var next: Job? = first
    while let job = next {
      job()
      next = state.withLock { state -> Job? in
        guard !state.waiting.isEmpty else {
          state.running -= 1
          return nil
        }
        return state.waiting.removeFirst()
      }
    }
  }

  private static let tooMany = AccountError(
    .serviceUnavailable, "Too many log-ins are under way. Try again in a few seconds.")
  private static let noMemory = AccountError(
    .serviceUnavailable, "The server has not enough memory to check passwords. Try again later.")
}
