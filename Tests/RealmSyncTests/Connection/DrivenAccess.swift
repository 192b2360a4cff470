import Dispatch
import RealmSyncClient
import Synchronization

/// Gives numbered tokens and numbered addresses. It logs a user out when a connection reports that the server refuses
/// the user.
final class DrivenAccess: SyncAccess {
  private struct State {
    var asked: [RouteRefusal?] = []
    var isLoggedIn = true
    var problem: NetworkProblem?
    var token = 1
    var address = 1
    var isHeld = false
    var held: [@Sendable () -> Void] = []

    var tokenText: String { "token\(token)" }
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "io.realm.tests.access")

  /// The refusals that came with the questions, in their order. A question has nil if no connection was refused before
  /// it.
  var asked: [RouteRefusal?] { state.withLock { $0.asked } }

  func logIn() { state.withLock { $0.isLoggedIn = true } }

  /// The user logs in again and has another token. The sessions are not notified.
  func logInAnew() {
    state.withLock { state in
      state.isLoggedIn = true
      state.token += 1
    }
  }

  func logOut() { state.withLock { $0.isLoggedIn = false } }

  /// Sets the problem that answers each question; nil lets questions be answered again.
  func fail(_ problem: NetworkProblem?) { state.withLock { $0.problem = problem } }

  /// Holds all answers back until `release()`.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Gives the answers that were held back, from the state at that moment, and holds back no more.
  func release() {
    let held = state.withLock { state -> [@Sendable () -> Void] in
      defer { (state.isHeld, state.held) = (false, []) }
      return state.held
    }
    for answer in held { answer() }
  }

  func route(
    after refused: RouteRefusal?, _ body: @escaping @Sendable (Result<SyncRoute, AccessProblem>) -> Void
  ) {
    let answer: @Sendable () -> Void = { [self] in body(result(refused)) }
    let isHeld = state.withLock { state -> Bool in
      state.asked.append(refused)
      if state.isHeld { state.held.append(answer) }
      return state.isHeld
    }
    if !isHeld { queue.async(execute: answer) }
  }

  private func result(_ refused: RouteRefusal?) -> Result<SyncRoute, AccessProblem> {
    state.withLock { state -> Result<SyncRoute, AccessProblem> in
      switch refused {
      case .token: state.token += 1
      case .route: state.address += 1
      case .user(let token): if token == state.tokenText { state.isLoggedIn = false }
      case nil: break
      }
      guard state.isLoggedIn else { return .failure(.loggedOut(Self.loggedOut)) }
      if let problem = state.problem { return .failure(.notNow(problem)) }
      return .success(SyncRoute(url: "ws://server/\(state.address)", token: state.tokenText))
    }
  }

  /// The message of the error for a user who is logged out.
  static let loggedOut = "The user is logged out."
}
