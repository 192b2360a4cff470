public import Dispatch
import Foundation
import RealmStorage
import RealmSync
import RealmSyncClient
import Synchronization

/// Syncs a file with its server while a realm of the file is open, and until its changes are uploaded.
///
/// Each synced file that is open in a process has one session. It begins when the first realm is opened, and connects by itself
/// if the user is logged in. Any thread may use a session.
public final class SyncSession: Sendable {
  private struct Status {
    var isPaused = false
    var isLoggedIn: Bool
    /// Whether an error has ended the session. It starts again when it is resumed, or when the user logs in.
    var hasFailed = false
    var isEnded = false
    /// Whether the session ends when everything is uploaded, unless a realm is open then.
    var waitsToEnd = false
    /// The path to which the file will be moved; nil if none was chosen yet.
    var recoveredPath: String?
    var connection = ConnectionState.disconnected
    var observers: [UInt64: @Sendable (ConnectionState, ConnectionState) -> Void] = [:]
    /// The closures that are called when the server can't be reached.
    var lossObservers: [UInt64: @Sendable (SyncedFileProblem) -> Void] = [:]
    var lastObserver: UInt64 = 0
    /// The action that was stored for the next start of the app.
    var noted: FileAction?
    /// The problem of the connection that the app was told last; nil after something was synced.
    var toldLoss: SyncedFileProblem?
    /// The number of the last refusal that the app was told, or will be told in a queued call.
    var toldRefusal: UInt64 = 0
    /// The number of the last refusal that was logged.
    var loggedRefusal: UInt64 = 0
  }

  let core: SyncedFile
  let file: RealmFile
  let sync: SyncConfiguration
  let progress = ProgressReports()
  /// The realm before a reset, for the app's callback after the reset.
  let resetting = Mutex<FrozenBeforeReset?>(nil)
  /// Listens for commits of other processes; nil for a file that no other process can have open.
  let commits = Mutex<CommitWaiter?>(nil)
  private let hold: RealmFile.Hold
  private let sessions: UserSessions
  private let status: Mutex<Status>

  init(
    _ file: RealmFile, _ hold: RealmFile.Hold, _ sync: SyncConfiguration, _ sessions: UserSessions,
    _ connection: SyncConnection
  ) {
    (self.file, self.hold, self.sync, self.sessions) = (file, hold, sync, sessions)
    status = Mutex(Status(isLoggedIn: sync.user.isLoggedIn))
    core = SyncedFile(
      file.database, partition: sync.partitionValue?.partitionValue(),
      recovery: sync.clientResetMode.recovery,
      connection: connection)
    core.attach(self)
  }

  /// Connects if the user is logged in and the app has not suspended the session; otherwise ends the connection.
  private func follow(because problem: SyncedFileProblem = .stopped) {
    core.inTurn { [self] in
      // The state is read here, so that the latest decision counts, whichever thread has asked.
      if isToRun { core.startInTurn() } else { core.stopInTurn(because: problem) }
    }
  }

  /// Starts the session after the user's list of sessions has it. The user may have logged in or out in the meantime.
  func begin() {
    status.withLock { $0.isLoggedIn = sync.user.isLoggedIn }
    waitForOthers()
    follow()
  }

  private var isToRun: Bool { status.withLock { $0.isLoggedIn && !$0.isPaused && !$0.isEnded } }

  // MARK: - What it is

  /// Whether the session connects. It is `inactive` while the app has suspended it, while the user is logged out, and after an
  /// error has ended it. It is `invalid` when its file is closed. If another process has the session of the file, it is `active`,
  /// and connects when the session of that process ends.
  public var state: State {
    // The report of a log-out may not have arrived yet.
    let isLoggedIn = sync.user.isLoggedIn
    return status.withLock { status in
      if status.isEnded { return .invalid }
      return isLoggedIn && status.isLoggedIn && !status.isPaused && !status.hasFailed ? .active : .inactive
    }
  }

  /// Whether there is a connection to the server. It is also `disconnected` while the session waits for its next try.
  public var connectionState: ConnectionState { status.withLock { $0.connection } }

  /// The user of the session; nil if the session is over.
  public func parentUser() -> User? { status.withLock { $0.isEnded } ? nil : sync.user }

  /// The sync configuration with which the file was opened; nil if the session is over.
  public func configuration() -> SyncConfiguration? { status.withLock { $0.isEnded } ? nil : sync }

  // MARK: - What the app asks for

  /// Disconnects at once, and does not connect again before `resume()`. Callers that wait for the session get an error. Other
  /// sessions continue.
  public func suspend() {
    let isNew = status.withLock { status in
      defer { status.isPaused = true }
      return !status.isPaused
    }
    guard isNew else { return }
    become(.disconnected)
    core.inTurn { [self] in
      // This happens even if the app has resumed the session in the meantime, because all waits have to be told.
      core.stopInTurn()
      if isToRun { core.startInTurn() }
    }
  }

  /// Continues after `suspend()`, or after an error that has ended the session. It connects at once.
  public func resume() {
    status.withLock { ($0.isPaused, $0.hasFailed) = (false, false) }
    follow()
  }

  /// Connects at once instead of waiting for the next try. It does nothing if the session is connected or suspended. On Apple
  /// systems the library does this by itself when the network returns or changes. On other systems a program that learns of this
  /// can call it.
  public func reconnect() {
    status.withLock { $0.hasFailed = false }
    follow()
  }

  /// Calls `block` when the server has accepted all changes that are committed now, or when all changes that the server has now
  /// can be read in the file. The wait continues while the session is inactive.
  ///
  /// - Parameters:
  ///   - direction: whether to wait for uploads or downloads.
  ///   - queue: the queue on which `block` is called; nil for the main queue, or for the queue `realm.sync.callbacks` in a
  ///     program that does not serve its main queue.
  ///   - block: is called once: with nil, or with the error that has ended the session. If another process has the session of the
  ///     file, a wait for downloads ends with `Realm.Error.multipleSyncAgents`.
  public func wait(
    for direction: ProgressDirection, queue: DispatchQueue? = nil,
    block: @Sendable @escaping ((any Error)?) -> Void
  ) {
    let body: @Sendable (SyncedFileProblem?) -> Void = { [weak self] problem in
      let error: (any Error)? = problem.map { $0.error(of: self) }
      if let queue { queue.async { block(error) } } else { CallbackQueue.deliver { block(error) } }
    }
    switch direction {
    case .upload: core.whenUploaded(body)
    case .download: core.whenDownloaded(body)
    }
  }

  /// Waits until the server has accepted all changes that are committed now, or until all changes that the server has now can be
  /// read in the file. The wait continues while the session is inactive.
  ///
  /// - Parameter direction: whether to wait for uploads or downloads.
  /// - Throws: the error that has ended the session; `Realm.Error.multipleSyncAgents` for downloads if another process has the
  ///   session of the file; `CancellationError` if the task is cancelled.
  public func wait(for direction: ProgressDirection) async throws {
    try await CallbackWait.wait { (done: @escaping @Sendable (Result<Void, any Error>) -> Void) in
      let body: @Sendable (SyncedFileProblem?) -> Void = { [weak self] problem in
        done(problem.map { .failure($0.error(of: self)) } ?? .success(()))
      }
      return switch direction {
      case .upload: core.whenUploaded(body)
      case .download: core.whenDownloaded(body)
      }
    }
  }

  /// Carries out the action that an error has left to the app: it deletes a file, or moves it away. It happens at once if the
  /// file is not open in a realm. Otherwise it happens when the app is started the next time, or when the same token is passed
  /// again after the realms are closed. If another file has come to the path since the error, that file is left alone.
  public static func immediatelyHandleError(_ token: SyncError.ActionToken) { token.run() }

  // MARK: - Observers of the connection

  func addConnectionObserver(
    _ body: @escaping @Sendable (_ old: ConnectionState, _ new: ConnectionState) -> Void
  ) -> UInt64 {
    status.withLock { status in
      status.lastObserver += 1
      status.observers[status.lastObserver] = body
      return status.lastObserver
    }
  }

  func removeConnectionObserver(_ id: UInt64) {
    // The observer may hold the last references to objects of the app. They are released after the lock is free.
    let removed = status.withLock { $0.observers.removeValue(forKey: id) }
    withExtendedLifetime(removed) {}
  }

  /// Calls `body` each time the connection is lost or can't be made.
  func addLossObserver(_ body: @escaping @Sendable (SyncedFileProblem) -> Void) -> UInt64 {
    status.withLock { status in
      status.lastObserver += 1
      status.lossObservers[status.lastObserver] = body
      return status.lastObserver
    }
  }

  func removeLossObserver(_ id: UInt64) {
    let removed = status.withLock { $0.lossObservers.removeValue(forKey: id) }
    withExtendedLifetime(removed) {}
  }

  fileprivate func tellLoss(_ problem: SyncedFileProblem) {
    for observer in status.withLock({ Array($0.lossObservers.values) }) { observer(problem) }
  }

  fileprivate func become(_ new: ConnectionState) {
    status.withLock { status in
      let old = status.connection
      // A report of the connection may arrive after the end of the session.
      let isStopped = status.isPaused || !status.isLoggedIn || status.isEnded
      let new = isStopped ? .disconnected : new
      status.connection = new
      let observers = old == new ? [] : status.observers.sorted { $0.key < $1.key }.map(\.value)
      guard !observers.isEmpty else { return }
      // The calls are queued under the lock, so that observers get the states in their order.
      CallbackQueue.deliver { for observer in observers { observer(old, new) } }
    }
  }

  /// Whether the file has changes that the server has not decided yet.
  var hasPending: Bool {
    do throws(StorageError) { return try ClientCopy.hasPending(file.database.snapshot()) } catch {
      return false
    }
  }

  // MARK: - The user

  func userDidLogIn() {
    status.withLock { ($0.isLoggedIn, $0.hasFailed) = (true, false) }
    follow()
  }

  /// Handles a log-out of the user.
  ///
  /// - Parameter reason: why the server has ended the log-in; nil if the app has logged the user out.
  func userDidLogOut(because reason: String?) {
    status.withLock { $0.isLoggedIn = false }
    become(.disconnected)
    follow(because: reason.map { .loggedOut($0) } ?? .stopped)
    if let reason { report(SyncError(.clientUserError, reason)) }
  }

  /// The path to which the file will be moved. Every caller gets the same path.
  func recoveredPath(_ make: () -> String) -> String {
    status.withLock { status in
      let path = status.recoveredPath ?? make()
      status.recoveredPath = path
      return path
    }
  }

  /// Notes the stored action that moves the file at the next start of the app. It is withdrawn if the session syncs before.
  func note(_ action: FileAction) { status.withLock { $0.noted = action } }

  fileprivate func noteFailure() { status.withLock { $0.hasFailed = true } }

  // MARK: - The end

  /// Ends the session when everything is uploaded, unless a realm is opened in the meantime. Must be called on the
  /// session's queue.
  fileprivate func endWhenUploaded() {
    guard state == .active else { return endIfUnused() }
    let isFirst = status.withLock { status in
      defer { status.waitsToEnd = true }
      return !status.waitsToEnd
    }
    guard isFirst else { return }
    core.whenUploadedInTurn { [self] problem in
      status.withLock { $0.waitsToEnd = false }
      // A realm may have been opened, written and closed in the meantime.
      if problem == nil, hasPending { endWhenUploaded() } else { endIfUnused() }
    }
  }

  private func endIfUnused() {
    guard letGo() else { return }
    core.endInTurn()
    didEnd()
  }

  /// Releases the file if nothing else uses it. A realm in memory is gone after that.
  ///
  /// - Returns: whether it was released.
  private func letGo() -> Bool {
    let gone = replicaInMemory
    guard hold.endIfLast() else { return false }
    if let gone { sync.user.appIfThere?.note(goneReplica: gone, of: sync.user.id) }
    return true
  }

  /// The server's number for a realm in memory; nil for a file.
  private var replicaInMemory: UInt64? {
    guard file.isInMemory else { return nil }
    do throws(StorageError) { return try ClientReplica.number(in: file.database.snapshot()) } catch {
      return nil
    }
  }

  private func didEnd() {
    status.withLock { $0.isEnded = true }
    become(.disconnected)
    sessions.remove(self)
  }
}

extension SyncSession: FileSync {
  func didCommit() { core.didCommit() }
  func didOpen() {}
  func lastRealmClosed() { core.inTurn { [self] in endWhenUploaded() } }

  func end() {
    if core.endAtOnce({ letGo() }) { didEnd() }
  }
}

extension SyncSession: SyncedFileHandler {
  package func file(_ core: SyncedFile, became state: RealmSyncClient.ConnectionState) {
    switch state {
    case .disconnected: become(.disconnected)
    case .connecting:
      status.withLock { $0.hasFailed = false }
      become(.connecting)
    case .connected: become(.connected)
    }
  }

  package func fileDidChange(_ core: SyncedFile) { file.didCommit(nil) }

  package func file(_ core: SyncedFile, uploaded done: UInt64, of total: UInt64) {
    progress.uploaded(done, of: total)
  }

  package func file(_ core: SyncedFile, downloaded done: UInt64, of total: UInt64, querySet: UInt64) {
    if done == total { hasSynced() }
    progress.downloaded(done, of: total, querySet: querySet)
  }

  package func fileHasRefusals(_ core: SyncedFile) {
    let (told, logged) = status.withLock { ($0.toldRefusal, $0.loggedRefusal) }
    do throws(ClientProblem) {
      let (refusals, last) = try core.refusals(after: told)
      guard !refusals.isEmpty else { return }
      status.withLock { ($0.toldRefusal, $0.loggedRefusal) = (last, last) }
      let error = SyncError(refusals, in: file.database)
      if last > logged { Logger.shared.log(.warn, error.localizedDescription) }
      report(error) { [self] isTold in
        // The refusals are deleted only after the handler was called, because the program may end in between. If there is no
        // handler yet, the next session reports them, and also earlier ones that an earlier call did not report.
        let isNext = status.withLock { status in
          if !isTold { status.toldRefusal = min(status.toldRefusal, told) }
          return status.toldRefusal >= last
        }
        if isTold, isNext { core.forgetRefusals(upTo: last) }
      }
    } catch {
      report(SyncError.of(.failed(error), self))
    }
  }

  /// Notes that a step of the server was applied completely.
  private func hasSynced() {
    let action = status.withLock { status in
      status.toldLoss = nil
      defer { (status.noted, status.recoveredPath) = (nil, nil) }
      return status.noted
    }
    // The file continues to be synced, so it need not be moved any more.
    if let action { sync.user.appIfThere?.withdraw(action) }
  }

  package func goneReplicas(of core: SyncedFile) -> [UInt64] {
    sync.user.appIfThere?.goneReplicas(of: sync.user.id) ?? []
  }

  package func file(_ core: SyncedFile, retired replica: UInt64) {
    sync.user.appIfThere?.forget(goneReplica: replica, of: sync.user.id)
  }

  package func fileWillDownloadAnew(_ core: SyncedFile) {
    Logger.shared.log(
      .info, "\(file.database.path): the server has another history, and what it has is downloaded anew.")
  }

  package func file(_ core: SyncedFile, lost problem: SyncedFileProblem) {
    Logger.shared.log(.info, "\(file.database.path): no connection with the server: \(problem.text)")
    progress.lost()
    forgetBeforeReset()
    tellLoss(problem)
    if problem.needsSomebody { reportLoss(problem) }
  }

  /// Reports a problem of the connection to the app, once until something is synced again, since each try finds the same problem.
  private func reportLoss(_ problem: SyncedFileProblem) {
    let isNew = status.withLock { status in
      defer { status.toldLoss = problem }
      return status.toldLoss != problem
    }
    if isNew { report(SyncError.of(problem, self)) }
  }

  package func file(_ core: SyncedFile, ended problem: SyncedFileProblem) {
    // The app was told of this when the user was logged out.
    if case .loggedOut = problem { return }
    noteFailure()
    forgetBeforeReset()
    let error = SyncError.of(problem, self)
    Logger.shared.log(.error, "\(file.database.path): the session has ended: \(problem.text)")
    report(error)
  }

  /// Reports an error to the app.
  ///
  /// - Parameter done: is called after the error handler, with whether there is one.
  fileprivate func report(_ error: SyncError, _ done: (@Sendable (_ isTold: Bool) -> Void)? = nil) {
    if error.code == .clientResetError, case .manual(let handler?) = sync.clientResetMode {
      return CallbackQueue.deliver { handler(error, self) }
    }
    CallbackQueue.deliver { [self] in
      let handler = sync.user.appIfThere?.syncManager.errorHandler
      handler?(error, self)
      done?(handler != nil)
    }
  }
}
