import Dispatch
import Synchronization

/// What one hash of a password costs who makes it, and who guesses.
struct PasswordCost: Sendable {
  /// How often the memory is gone over.
  var operations: UInt64
  /// Bytes of memory.
  var memory: Int

  /// 3 times 64 MiB: about a tenth of a second.
  static let standard = PasswordCost(operations: 3, memory: 64 << 20)
  /// The least that libsodium takes, for tests.
  static let least = PasswordCost(operations: 1, memory: 8192)
}

/// Hashes passwords on threads of its own: a few at a time, as each needs much memory and a processor, and
/// with a queue that can't grow without end.
final class Passwords: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    var running = 0
    var waiting: [Job] = []
  }

  /// How many are hashed at a time.
  static let workers = 2
  /// How many wait at most.
  static let places = 64

  private let cost: PasswordCost
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "realm-server.passwords", attributes: .concurrent)

  init(cost: PasswordCost) { self.cost = cost }

  /// The hash of a password, to be stored.
  ///
  /// - Throws: `AccountError.Code.serviceUnavailable` where too many wait, or memory is short.
  func hash(_ password: Password) async throws -> String {
    let hash = try await run { [cost] in Sodium.passwordHash(password, cost) }
    guard let hash else { throw Self.noMemory }
    return hash
  }

  /// Whether a hash is that of a password.
  ///
  /// - Throws: `AccountError.Code.serviceUnavailable` where too many wait, or memory is short.
  func matches(_ password: Password, _ hash: String) async throws -> Bool {
    let isRight = try await run { Sodium.isPassword(password, of: hash) }
    guard let isRight else { throw Self.noMemory }
    return isRight
  }

  /// Runs work on one of the threads when it is its turn.
  ///
  /// - Throws: `AccountError.Code.serviceUnavailable` where too many wait.
  func run<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Answer, any Error>) in
      let isTaken = take { continuation.resume(returning: work()) }
      if !isTaken { continuation.resume(throwing: Self.tooMany) }
    }
  }

  private enum Place { case runs, waits, none }

  /// False where there is no place for a job.
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
