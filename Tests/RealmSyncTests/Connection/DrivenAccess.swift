import Dispatch
import RealmSyncClient
import Synchronization

/// Gives tokens with numbers, and addresses with numbers. Who is let in no more is logged out.
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

  /// Why each connection before was refused, by the questions.
  var asked: [RouteRefusal?] { state.withLock { $0.asked } }

  func logIn() { state.withLock { $0.isLoggedIn = true } }

  /// The user logs in anew, so that there is another token. No session is told.
  func logInAnew() {
    state.withLock { state in
      state.isLoggedIn = true
      state.token += 1
    }
  }

  func logOut() { state.withLock { $0.isLoggedIn = false } }

  /// What is asked can't be answered; nil where it can.
  func fail(_ problem: NetworkProblem?) { state.withLock { $0.problem = problem } }

  /// Answers nothing before `release()`.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Answers what was asked meanwhile, with what counts now, and all that follows.
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

  /// What is said of a user who is logged out.
  static let loggedOut = "The user is logged out."
}
