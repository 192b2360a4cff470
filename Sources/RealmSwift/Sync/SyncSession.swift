public import Dispatch
import Foundation
import RealmStorage
import RealmSync
import RealmSyncClient
import Synchronization

/// Keeps a file the same as its server has it, while a realm of it is open and until its changes are uploaded.
///
/// There is one for each file that is synced and open. It begins with the first realm, and connects by itself where the user is logged in.
public final class SyncSession: Sendable {
  private struct Status {
    var isPaused = false
    var isLoggedIn: Bool
    /// It could not go on. It begins again when it is resumed, or the user logs in.
    var hasFailed = false
    var isEnded = false
    /// It ends when all is uploaded, unless a realm is open then.
    var waitsToEnd = false
    /// Where the file will be put aside, once that was told.
    var recoveredPath: String?
    var connection = ConnectionState.disconnected
    var observers: [UInt64: @Sendable (ConnectionState, ConnectionState) -> Void] = [:]
    /// Are told that the server can't be reached.
    var lossObservers: [UInt64: @Sendable (SyncedFileProblem) -> Void] = [:]
    var lastObserver: UInt64 = 0
    /// What was noted to be done with the file when the app is started the next time.
    var noted: FileAction?
    /// The loss that the app was told last, until something is synced again.
    var toldLoss: SyncedFileProblem?
    /// The number of the last refusal that the app was told, or is about to be told.
    var toldRefusal: UInt64 = 0
    /// The number of the last refusal that was logged.
    var loggedRefusal: UInt64 = 0
  }

  let core: SyncedFile
  let file: RealmFile
  let sync: SyncConfiguration
  let progress = ProgressReports()
  /// What the file had before a reset, for the app's callback behind it.
  let resetting = Mutex<FrozenBeforeReset?>(nil)
  /// Hears of what other processes commit; nil of a file that no other one can have.
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

  /// Connects, if the user is logged in and the app has not suspended it; else ends what there is.
  private func follow(because problem: SyncedFileProblem = .stopped) {
    core.inTurn { [self] in
      // What was decided last counts, whatever thread has asked.
      if isToRun { core.startInTurn() } else { core.stopInTurn(because: problem) }
    }
  }

  /// It is known to its user now, who may have logged in or out meanwhile.
  func begin() {
    status.withLock { $0.isLoggedIn = sync.user.isLoggedIn }
    waitForOthers()
    follow()
  }

  private var isToRun: Bool { status.withLock { $0.isLoggedIn && !$0.isPaused && !$0.isEnded } }

  // MARK: - What it is

  /// Whether it connects: it is inactive while the app has suspended it, while the user is logged out, and where it could not go on. It is
  /// invalid once it is over: the file is closed. Where another process has the session of the file it is active, and connects when that one ends.
  public var state: State {
    // Its end may be on the way here.
    let isLoggedIn = sync.user.isLoggedIn
    return status.withLock { status in
      if status.isEnded { return .invalid }
      return isLoggedIn && status.isLoggedIn && !status.isPaused && !status.hasFailed ? .active : .inactive
    }
  }

  /// Whether there is a connection with the server. It is also `disconnected` while another try is awaited.
  public var connectionState: ConnectionState { status.withLock { $0.connection } }

  /// The user whose session it is; nil once it is over.
  public func parentUser() -> User? { status.withLock { $0.isEnded } ? nil : sync.user }

  /// What the file was opened with; nil once it is over.
  public func configuration() -> SyncConfiguration? { status.withLock { $0.isEnded } ? nil : sync }

  // MARK: - What the app asks for

  /// Disconnects at once, and connects no more until `resume()`. What waits for this session is told an error. Other sessions go on.
  public func suspend() {
    let isNew = status.withLock { status in
      defer { status.isPaused = true }
      return !status.isPaused
    }
    guard isNew else { return }
    become(.disconnected)
    core.inTurn { [self] in
      // Also where the app has resumed it meanwhile: what waits is told.
      core.stopInTurn()
      if isToRun { core.startInTurn() }
    }
  }

  /// Goes on after `suspend()`, or after an error for which it ended: it connects now.
  public func resume() {
    status.withLock { ($0.isPaused, $0.hasFailed) = (false, false) }
    follow()
  }

  /// Connects now, without waiting any longer for the next try. Does nothing while it is connected, or suspended. On Apple systems that is done by itself when there is a network
  /// again, or another one; on other systems a program that knows of that calls it.
  public func reconnect() {
    status.withLock { $0.hasFailed = false }
    follow()
  }

  /// Calls `block` when all that is committed now has been taken by the server, or all that the server has now can be read here. While the session is inactive, it waits on.
  ///
  /// - Parameters:
  ///   - queue: where `block` is called; nil for the main queue.
  ///   - block: is called once, with nil, or with why the session has ended meanwhile. While another process has the session of the file, a wait for downloads ends with
  ///     `Realm.Error.multipleSyncAgents`.
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

  /// Waits until all that is committed now has been taken by the server, or all that the server has now can be read here. While the session is inactive, it waits on.
  ///
  /// - Throws: why the session has ended meanwhile; for downloads `Realm.Error.multipleSyncAgents` while another process has the session of the file;
  ///   `CancellationError`.
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

  /// Does what an error has left to the app: deletes a file, or puts it aside. It happens at once if no realm of the file is open. Else it happens when the app
  /// is started the next time, or when the same token is given again once the realms are gone. It happens to the file of the error only, and not to another one
  /// that has come to its path since.
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
    // It may be the last to refer to what the observer has, which ends when the lock is free.
    let removed = status.withLock { $0.observers.removeValue(forKey: id) }
    withExtendedLifetime(removed) {}
  }

  /// Calls `body` whenever there is no connection, or none comes about.
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
      // What the connection tells may come behind the end.
      let isStopped = status.isPaused || !status.isLoggedIn || status.isEnded
      let new = isStopped ? .disconnected : new
      status.connection = new
      let observers = old == new ? [] : status.observers.sorted { $0.key < $1.key }.map(\.value)
      guard !observers.isEmpty else { return }
      // Under the lock, so that states are told in their order.
      CallbackQueue.deliver { for observer in observers { observer(old, new) } }
    }
  }

  /// There are changes that no server has decided.
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

  /// - Parameter reason: why the server lets the user in no more; nil where the app has asked for the end.
  func userDidLogOut(because reason: String?) {
    status.withLock { $0.isLoggedIn = false }
    become(.disconnected)
    follow(because: reason.map { .loggedOut($0) } ?? .stopped)
    if let reason { report(SyncError(.clientUserError, reason)) }
  }

  /// Where the file will be put aside: the same for all who are told of it.
  func recoveredPath(_ make: () -> String) -> String {
    status.withLock { status in
      let path = status.recoveredPath ?? make()
      status.recoveredPath = path
      return path
    }
  }

  /// The file is to be put aside when the app is started the next time, unless it goes on before.
  func note(_ action: FileAction) { status.withLock { $0.noted = action } }

  fileprivate func noteFailure() { status.withLock { $0.hasFailed = true } }

  // MARK: - The end

  /// Ends when all is uploaded, unless a realm is opened meanwhile. In turn with the session.
  fileprivate func endWhenUploaded() {
    guard state == .active else { return endIfUnused() }
    let isFirst = status.withLock { status in
      defer { status.waitsToEnd = true }
      return !status.waitsToEnd
    }
    guard isFirst else { return }
    core.whenUploadedInTurn { [self] problem in
      status.withLock { $0.waitsToEnd = false }
      // A realm may have been opened meanwhile, written, and closed again.
      if problem == nil, hasPending { endWhenUploaded() } else { endIfUnused() }
    }
  }

  private func endIfUnused() {
    guard letGo() else { return }
    core.endInTurn()
    didEnd()
  }

  /// Lets go of the file, if nobody else uses it; answers whether that is so. A file in memory is gone then.
  private func letGo() -> Bool {
    let gone = replicaInMemory
    guard hold.endIfLast() else { return false }
    if let gone { sync.user.appIfThere?.note(goneReplica: gone, of: sync.user.id) }
    return true
  }

  /// The number by which the server knows a file in memory; nil of others.
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
        // Not before: the program may end meanwhile. Where nobody listens yet, it is told in the next session.
        // So are those before it, of which another call was not heard.
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

  /// A step of the server was applied.
  private func hasSynced() {
    let action = status.withLock { status in
      status.toldLoss = nil
      defer { (status.noted, status.recoveredPath) = (nil, nil) }
      return status.noted
    }
    // The file goes on, and need not be put aside any more.
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

  /// Tells the app of a loss, once until something is synced again: the same is found at every try.
  private func reportLoss(_ problem: SyncedFileProblem) {
    let isNew = status.withLock { status in
      defer { status.toldLoss = problem }
      return status.toldLoss != problem
    }
    if isNew { report(SyncError.of(problem, self)) }
  }

  package func file(_ core: SyncedFile, ended problem: SyncedFileProblem) {
    // That was told when the user was logged out.
    if case .loggedOut = problem { return }
    noteFailure()
    forgetBeforeReset()
    let error = SyncError.of(problem, self)
    Logger.shared.log(.error, "\(file.database.path): the session has ended: \(problem.text)")
    report(error)
  }

  /// - Parameter done: is called behind the handler, with whether there was one.
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
