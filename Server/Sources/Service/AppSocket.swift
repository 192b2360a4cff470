import Front
import RealmServer
import Synchronization

/// The WebSocket of a user of an app.
final class AppSocket: SocketHandler, Sendable {
  /// Why the server closes a socket (docs/sync-protocol.md, "Log-in and connections"). The numbers from 4,000 on are
  /// the protocol's own.
  enum Reason: UInt16 {
    case goingAway = 1001
    case protocolError = 1002
    case unavailable = 1013
    case tokenExpired = 4001
    case loggedOut = 4003
  }

  private struct State {
    var socket: Socket?
    /// The connection of the socket in the app. It is set and read on the worker's queue.
    var connection: SyncApp.Connection?
    /// The number of bytes that have come and were not taken in yet.
    var waiting = 0
    /// The number of bytes that were handed over to be sent and have not left the machine.
    var unsent = 0
    /// True if too many bytes of all sockets of the user wait, so that this socket reads nothing.
    var isHeld = false
    var isPaused = false
    var isClosed = false
  }

  /// The time at which the verification of the token began.
  let asked: ContinuousClock.Instant
  let user: String
  /// The session of the log-in that the token belongs to.
  let session: String
  private let data: UserData
  /// The time at which the token ends, in milliseconds since 1970.
  let end: UInt64
  private let worker: AppWorker
  private let intake: UserIntake
  private let didClose: @Sendable () -> Void
  private let state = Mutex(State())

  /// The numbers of bytes that may wait for the worker, and for the client, before reading stops. A client that takes
  /// no answers can then ask for no more of them.
  private static let mostWaiting = 4 << 20
  private static let mostUnsent = 8 << 20
  /// The number of bytes that a message takes beside its own, about.
  private static let cost = 256

  /// Pauses or resumes reading as the state needs it. This runs within the lock, so that a pause and its end come in
  /// the order in which they were decided.
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
  ///   - intake: the intake of the user.
  ///   - didClose: called once when the socket is gone, even if it never was opened.
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

  /// Whether nothing is read from the socket for now.
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

  /// Notes that the worker has taken in a message.
  func noteTaken(_ bytes: Int) {
    let size = bytes + Self.cost
    state.withLock { state in
      state.waiting -= size
      Self.balance(&state)
    }
    intake.take(size)
  }

  /// Holds up the reading of the socket, or ends that.
  func hold(_ isHeld: Bool) {
    state.withLock { state in
      state.isHeld = isHeld
      Self.balance(&state)
    }
  }

  /// - Parameter sent: called when the bytes have left the machine. It is not called if the connection ends before.
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
