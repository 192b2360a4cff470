@preconcurrency import Dispatch
import Front
import Logging
import RealmServer
import RealmStorage
import Synchronization

/// The thread of one app. Everything that its sync server does happens here, in the order in which it came.
///
/// A commit waits for the disk. So this is a queue of its own, and not a thread of the network or of Swift's tasks.
public final class AppWorker: Sendable {
  private struct State: ~Copyable {
    let app: SyncApp
    var sockets: [SyncApp.Connection: AppSocket] = [:]
    /// True if `run` is in the queue, behind the messages that are being taken in.
    var isRunDue = false
    var isStopped = false
    /// Why the last `run` failed, or why the clock is wrong; nil if neither is the case.
    var problem: String?
    var maximumOfflineTime: UInt64?
    /// The number of files that were reset since the server was started, by cause.
    var resets: [ResetCause: Int] = [:]
    /// The last revocations, `mostRevocations` and one more at most.
    var revocations: [Revoked] = []
  }

  /// A log-out of a user. It is kept because a socket whose token was verified before it may come later.
  private struct Revoked {
    let user: String
    let session: String?
    let time = ContinuousClock.now

    init(_ user: String, _ session: String?) { (self.user, self.session) = (user, session) }

    func concerns(_ socket: AppSocket) -> Bool {
      socket.user == user && (session == nil || socket.session == session) && socket.asked <= time
    }
  }

  /// The work that the sockets of users ask for.
  private struct Turns {
    struct Work: Sendable {
      /// The size of the message that the work takes in; 0 for other work.
      let bytes: Int
      let body: @Sendable () -> Void
    }

    var queue = FairQueue<Work>()
    /// True if `takeTurns` is in the worker's queue.
    var isDue = false
  }

  private static let mostRevocations = 1000

  /// The facts about an app that the monitor shows.
  public struct Health: Sendable {
    public var figures: SyncAppFigures?
    public var problem: String?
    /// The number of files that were reset since the server was started, by cause.
    public var resets: [ResetCause: Int] = [:]
  }

  public let id: String
  private let queue: DispatchQueue
  private let state: Mutex<State>
  private let userTurns = Mutex(Turns())
  private let clock: @Sendable () -> UInt64
  private let logger: Logger
  private let timer: DispatchSourceTimer
  private let trimTimer: DispatchSourceTimer

  /// - Parameters:
  ///   - maximumOfflineTime: the number of seconds after which the history is not kept any more for a file that did not
  ///     connect; nil if the history is never removed for that reason.
  ///   - trimEvery: the number of seconds from one removal of history that no file needs to the next.
  ///   - clock: the time, in milliseconds since 1970.
  /// - Throws: the errors of `SyncApp.init`.
  public init(
    id: String, path: String, encryptionKey: [UInt8]?, settings: SyncAppSettings, maximumOfflineTime: UInt64?,
    trimEvery: Int, clock: @escaping @Sendable () -> UInt64, logger: Logger
  ) throws {
    let app = try SyncApp(
      path: path, encryptionKey: encryptionKey, settings: settings, time: clock()
    ) { .random(in: 1...UInt64(Int64.max)) }
    (self.id, self.clock) = (id, clock)
    var logger = logger
    logger[metadataKey: "app"] = "\(id)"
    self.logger = logger
    queue = DispatchQueue(label: "realm-server.\(id)")
    state = Mutex(State(app: app, maximumOfflineTime: maximumOfflineTime.map { $0 * 1000 }))
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now(), repeating: .seconds(Self.secondsBetweenRuns))
    trimTimer = DispatchSource.makeTimerSource(queue: queue)
    trimTimer.schedule(deadline: .now() + .seconds(trimEvery), repeating: .seconds(trimEvery))
    timer.setEventHandler { [weak self] in
      guard let self else { return }
      self.endExpired()
      self.run()
    }
    trimTimer.setEventHandler { [weak self] in self?.trim() }
    timer.activate()
    trimTimer.activate()
  }

  /// The time after which an idle server looks again whether there is anything to do.
  private static let secondsBetweenRuns = 10

  // MARK: - Sockets

  /// Takes in a socket of a user that was opened.
  func connect(_ socket: AppSocket, user: String, data: [String: [Value]]) {
    inTurn(of: user) { [self] in
      state.withLock { state in
        guard !state.isStopped else { return socket.close(.goingAway, "The server stops.") }
        guard !state.revocations.contains(where: { $0.concerns(socket) }) else {
          return socket.close(.loggedOut, "The user has been logged out.")
        }
        guard state.problem == nil else { return socket.close(.unavailable, "The server can't go on.") }
        do {
          let connection = try state.app.connect(user: user, data: data, time: clock())
          state.sockets[connection] = socket
          socket.connection = connection
        } catch {
          logger.error("a connection can't be taken", metadata: ["error": "\(error)"])
          socket.close(.unavailable, "The server can't go on.")
        }
      }
      scheduleRun()
    }
  }

  func receive(_ message: [UInt8], from socket: AppSocket) {
    inTurn(of: socket.user, bytes: message.count) { [self] in
      state.withLock { state in
        guard let connection = socket.connection else { return }
        do {
          carryOut(try state.app.receive(message, from: connection, time: clock()), &state)
        } catch {
          logger.error("a message can't be taken in", metadata: ["error": "\(error)"])
          socket.close(.unavailable, "The server can't go on.")
        }
      }
      socket.noteTaken(message.count)
      scheduleRun()
    }
  }

  func disconnect(_ socket: AppSocket) {
    inTurn(of: socket.user) { [self] in
      state.withLock { state in
        guard let connection = socket.connection else { return }
        state.app.disconnect(connection)
        state.sockets[connection] = nil
        socket.connection = nil
      }
      // Another file of the user may have waited because of this socket.
      scheduleRun()
    }
  }

  /// Does work for a socket of a user when it is the user's turn, behind all that the user has asked for before.
  private func inTurn(of user: String, bytes: Int = 0, _ body: @escaping @Sendable () -> Void) {
    let isDue = userTurns.withLock { turns in
      turns.queue.add(Turns.Work(bytes: bytes, body: body), for: user)
      defer { turns.isDue = true }
      return turns.isDue
    }
    if !isDue { queue.async { [self] in takeTurns() } }
  }

  /// The users have their turns for this time, or for this number of bytes, before what they have sent is integrated
  /// and answered, because to integrate takes several times as long as to take in. A changeset of a thousand small
  /// objects has about this number of bytes when it is compressed.
  private static let slice = (time: Duration.milliseconds(5), bytes: 16 << 10)

  private func takeTurns() {
    let end = ContinuousClock.now + Self.slice.time
    var bytes = 0
    repeat {
      guard let taken = takeTurn() else { return }
      bytes += taken
    } while bytes < Self.slice.bytes && ContinuousClock.now < end
    // This goes behind `run`, which the work has put into the queue.
    queue.async { [self] in takeTurns() }
  }

  /// - Returns: the number of bytes that were taken in; nil if nothing waits.
  private func takeTurn() -> Int? {
    let work = userTurns.withLock { turns in
      let work = turns.queue.next()
      if work == nil { turns.isDue = false }
      return work
    }
    work?.body()
    return work?.bytes
  }

  /// Closes sockets of a user.
  ///
  /// - Parameter session: the session of the log-in whose sockets are closed; nil for all sockets of the user.
  func end(user: String, session: String?) {
    queue.async { [self] in
      state.withLock { state in
        state.revocations = state.revocations.suffix(Self.mostRevocations) + [Revoked(user, session)]
        for (connection, socket) in state.sockets where Revoked(user, session).concerns(socket) {
          state.app.disconnect(connection)
          state.sockets[connection] = nil
          socket.connection = nil
          socket.close(.loggedOut, "The user has been logged out.")
        }
      }
    }
  }

  // MARK: - Work

  /// Puts `run` into the queue, behind the messages that are being taken in. It is there once at most, however often it
  /// is asked for.
  private func scheduleRun() {
    let isDue = state.withLock { state in
      defer { state.isRunDue = true }
      return state.isRunDue
    }
    if !isDue { queue.async { [self] in run() } }
  }

  private func run() {
    let isIntegrating = state.withLock { !$0.isStopped && $0.app.hasWaiting }
    if isIntegrating { logger.debug("changes are being integrated") }
    defer { if isIntegrating { logger.debug("changes are integrated") } }
    let hasWork = state.withLock { state in
      state.isRunDue = false
      guard !state.isStopped else { return false }
      let before = state.problem
      do {
        carryOut(try state.app.run(time: clock()), &state)
        noteResets(&state)
        state.problem = state.app.clockProblem(time: clock())
      } catch {
        state.problem = "\(error)"
        // All clients are disconnected, so that they do not wait in vain and what they send does not pile up. They come
        // back by themselves. The worker tries again when the timer fires.
        for (connection, socket) in state.sockets {
          state.app.disconnect(connection)
          socket.connection = nil
          socket.close(.unavailable, "The server can't go on.")
        }
        state.sockets = [:]
      }
      if let problem = state.problem, problem != before {
        logger.error("the server can't go on", metadata: ["error": "\(problem)"])
      }
      return state.app.hasWork
    }
    // The next run goes behind the messages that have come meanwhile.
    if hasWork { scheduleRun() }
  }

  /// Closes the sockets whose tokens have expired. A client that is still there has got another token by now, and
  /// connects with it. So no connection is older than a token, and the server can forget what its client has received
  /// since the session began.
  private func endExpired() {
    let now = clock()
    state.withLock { state in
      for (connection, socket) in state.sockets where socket.end <= now {
        // Messages that are not sent yet go out before the close, and no thread waits for them.
        state.app.disconnect(connection)
        state.sockets[connection] = nil
        socket.connection = nil
        socket.close(.tokenExpired, "The access token has expired.")
      }
    }
  }

  private func carryOut(_ actions: [SyncApp.Action], _ state: inout State) {
    for action in actions {
      switch action {
      case .send(let message, let connection):
        guard let socket = state.sockets[connection] else { continue }
        socket.send(message.bytes) { [weak self] in self?.noteSent(message, to: connection) }
      case .close(let connection, let text):
        state.sockets.removeValue(forKey: connection)?.close(.protocolError, text)
      }
    }
  }

  private func noteResets(_ state: inout State) {
    for reset in state.app.takeResets() {
      state.resets[reset.cause, default: 0] += 1
      logger.notice(
        "a file is reset",
        metadata: [
          "cause": "\(reset.cause.rawValue)", "replica": "\(reset.replica)",
          "successor": "\(reset.successor)",
        ])
    }
  }

  private func noteSent(_ message: SyncApp.Message, to connection: SyncApp.Connection) {
    queue.async { [self] in
      state.withLock { $0.app.noteSent(message, to: connection) }
      scheduleRun()
    }
  }

  /// Removes the history that no file needs, and what is above the limit of the history.
  private func trim() {
    let isDue = state.withLock { state in
      guard !state.isStopped else { return false }
      do {
        if let cut = try state.app.trim(offline: state.maximumOfflineTime, time: clock()) {
          logger.warning(
            "the history has reached its limit, and the oldest part of it is forgotten: files that need it are reset",
            metadata: ["bytes": "\(cut.bytes)", "begin": "\(cut.horizon)", "files": "\(cut.replicas)"])
        }
      } catch {
        logger.error("the history can't be cut", metadata: ["error": "\(error)"])
      }
      return state.app.hasWaiting
    }
    // The removal is an entry of the log, which is carried out when it is integrated.
    guard isDue else { return }
    logger.debug("history is being removed")
    run()
    logger.debug("history is removed")
  }

  // MARK: - Who runs the server

  /// Does work on the worker's thread.
  private func perform<Result: Sendable>(
    _ body: @escaping @Sendable (inout State) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [self] in
        continuation.resume(
          with: Swift.Result {
            try state.withLock { state in
              guard !state.isStopped else { throw DataFolder.Problem(description: "The server stops.") }
              return try body(&state)
            }
          })
      }
    }
  }

  /// Returns how the app is doing now.
  public func health() async -> Health {
    do {
      return try await perform { state in
        let figures = try state.app.figures()
        return Health(figures: figures, problem: figures.halt ?? state.problem, resets: state.resets)
      }
    } catch {
      return Health(problem: "\(error)")
    }
  }

  /// Copies the app's file, while the server goes on.
  public func backup(to path: String, encryptionKey: [UInt8]?) async throws {
    let snapshot = try await perform { try $0.app.snapshot() }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      DispatchQueue.global().async {
        continuation.resume(with: Swift.Result { try snapshot.copy(to: path, encryptionKey: encryptionKey) })
      }
    }
  }

  /// Gives up the file of a client that is not used any more. This is stored when the method returns.
  ///
  /// - Returns: false if there is no such file.
  public func retire(replica: UInt64) async throws -> Bool {
    let time = clock()
    return try await perform { [self] state in
      guard try state.app.retire(replica: replica, time: time) else { return false }
      carryOut(try state.app.run(time: time), &state)
      return true
    }
  }

  /// Integrates what has come, tells clients to come back after a random time, and closes the file.
  ///
  /// - Parameter wait: the longest time after which clients come back, in milliseconds. They come back after half of it
  ///   at the earliest. More than an hour counts as an hour.
  public func stop(wait: UInt32) async {
    timer.cancel()
    trimTimer.cancel()
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        // Messages that arrive meanwhile are not read, so that this ends.
        let waiting = userTurns.withLock { $0.queue.count }
        for _ in 0..<waiting { _ = takeTurn() }
        run()
        state.withLock { state in
          state.isStopped = true
          carryOut(state.app.stop(wait: min(wait, 3_600_000) / 2), &state)
          state.app.close()
          state.sockets = [:]
        }
        continuation.resume()
      }
    }
  }
}
