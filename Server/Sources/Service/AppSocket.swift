import Front
import RealmServer
import Synchronization

/// The WebSocket of a user of an app.
final class AppSocket: SocketHandler, Sendable {
  /// Why the server closes a socket (docs/sync-protocol.md, "Connections"). The numbers from 4,000 on are the protocol's own.
  enum Reason: UInt16 {
    case goingAway = 1001
    case protocolError = 1002
    case unavailable = 1013
    case tokenExpired = 4001
    case loggedOut = 4003
  }

  private struct State {
    var socket: Socket?
    /// Set and read on the worker's queue.
    var connection: SyncApp.Connection?
    /// Bytes that have come and were not taken in yet.
    var waiting = 0
    /// Bytes that were given to be sent and have not left.
    var unsent = 0
    /// Too much of all sockets of the user waits.
    var isHeld = false
    var isPaused = false
    var isClosed = false
  }

  /// When its token was looked at.
  let asked: ContinuousClock.Instant
  let user: String
  /// The log-in that the token is of.
  let session: String
  private let data: UserData
  /// When the token ends, in milliseconds since 1970.
  let end: UInt64
  private let worker: AppWorker
  private let intake: UserIntake
  private let didClose: @Sendable () -> Void
  private let state = Mutex(State())

  /// Reading stops while so many bytes wait for the worker, or so many for the client: one that takes no answers asks for no more of them.
  private static let mostWaiting = 4 << 20
  private static let mostUnsent = 8 << 20
  /// What a message takes beside its bytes, about.
  private static let cost = 256

  /// Within the lock, so that a pause and its end come in the order in which they were decided.
  private static func balance(_ state: inout State) {
    if state.isHeld || state.waiting > mostWaiting || state.unsent > mostUnsent {
      guard !state.isPaused else { return }
      state.isPaused = true
      state.socket?.pause()
    } else if state.isPaused, state.waiting <= mostWaiting / 2, state.unsent <= mostUnsent / 2 {
      state.isPaused = false
      state.socket?.resume()
    }
  }

  /// - Parameters:
  ///   - intake: of the user.
  ///   - didClose: called once when the socket has gone, also where it never was opened.
  init(
    _ worker: AppWorker, _ intake: UserIntake, asked: ContinuousClock.Instant, user: String, session: String,
    data: UserData, end: UInt64, didClose: @escaping @Sendable () -> Void
  ) {
    (self.worker, self.intake, self.asked) = (worker, intake, asked)
    (self.user, self.session) = (user, session)
    (self.data, self.end, self.didClose) = (data, end, didClose)
  }

  deinit { didClose() }

  var connection: SyncApp.Connection? {
    get { state.withLock { $0.connection } }
    set { state.withLock { $0.connection = newValue } }
  }

  /// Nothing is read from it for now.
  var isPaused: Bool { state.withLock { $0.isPaused } }

  // MARK: - What the network tells

  func opened(_ socket: Socket) {
    state.withLock { $0.socket = socket }
    worker.connect(self, user: user, data: data.values)
  }

  func received(_ message: [UInt8]) {
    let size = message.count + Self.cost
    state.withLock { state in
      state.waiting += size
      Self.balance(&state)
    }
    intake.add(size, of: self)
    worker.receive(message, from: self)
  }

  func closed() {
    state.withLock { state in
      state.isClosed = true
      state.socket = nil
    }
    worker.disconnect(self)
  }

  // MARK: - What the worker tells

  /// A message was taken in.
  func noteTaken(_ bytes: Int) {
    let size = bytes + Self.cost
    state.withLock { state in
      state.waiting -= size
      Self.balance(&state)
    }
    intake.take(size)
  }

  /// Nothing more is read until that is over.
  func hold(_ isHeld: Bool) {
    state.withLock { state in
      state.isHeld = isHeld
      Self.balance(&state)
    }
  }

  /// - Parameter sent: called once the bytes have left; not where the connection ends before.
  func send(_ bytes: [UInt8], sent: @escaping @Sendable () -> Void) {
    let socket = state.withLock { state in
      state.unsent += bytes.count + Self.cost
      Self.balance(&state)
      return state.socket
    }
    socket?.send(bytes) { [weak self] in
      self?.state.withLock { state in
        state.unsent -= bytes.count + Self.cost
        Self.balance(&state)
      }
      sent()
    }
  }

  func close(_ reason: Reason, _ text: String) {
    state.withLock { $0.socket }?.close(code: reason.rawValue, reason: text)
  }
}
