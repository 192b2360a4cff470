import Dispatch
import RealmStorage
import RealmSync
import Synchronization

/// Runs the session of one file with its server on its own queue, where transactions may wait for the app and the disk.
///
/// It begins stopped. While it runs, it has a channel of the connection or waits for one. A file is one client to its
/// server, so only one of its handles in all processes has a session. The others wait until it ends, and tell their
/// handlers when it has written to the file.
package final class SyncedFile: ConnectionMember, @unchecked Sendable {
  // Sendable: all mutable state is used on the queue, except for the atomic values.

  package let database: Database
  private let queue = DispatchQueue(label: "io.realm.sync.session")
  private let connection: SyncConnection
  private let clock: any SyncClock
  let session: ClientSession
  private(set) weak var handler: (any SyncedFileHandler)?
  /// True if `didCommit` has queued a call of `look` that has not begun.
  private let isLookDue = Atomic<Bool>(false)
  /// The newest version of the file when `look` was called last.
  private let looked = Atomic<UInt64>(0)
  private var isRunning = false
  /// True if this handle is the one of the file that may run a session.
  private var isAgent = false
  /// True if this object is a member of the connection. It is none while it waits before its own next try.
  private var isJoined = false
  /// True if the file is being closed. Then no session starts again.
  private(set) var hasEnded = false
  private var channel: UInt64?
  /// A number that grows with each join and leave. Events and delayed calls with an earlier number are ignored.
  private var run: UInt64 = 0
  private var backOff = BackOff()
  private var waits = SyncedFileWaits()
  private let lastWait = Atomic<UInt64>(0)
  private var upload = UploadFigures()
  /// True if the server was told in this session which files of the user are gone.
  private var hasToldGone = false

  /// - Parameter database: the database of a synced file.
  package init(
    _ database: Database, partition: Value?, recovery: ClientSession.Recovery,
    connection: SyncConnection, clock: any SyncClock = SystemClock()
  ) {
    (self.database, self.connection, self.clock) = (database, connection, clock)
    session = ClientSession(
      database, partition: partition, recovery: recovery, mayRepeatResets: false)
    queue.setSpecific(key: Self.current, value: ObjectIdentifier(self))
    session.beforeReset = { [unowned self] in handler?.fileWillBeReset(self) }
  }

  /// Sets the handler that gets all events. It is not retained. It has to be set before `start` is called.
  package func attach(_ handler: any SyncedFileHandler) { self.handler = handler }

  // MARK: - Running

  /// Starts the session. If it runs already and waits for its next try, it tries at once.
  package func start() { queue.async { [self] in startInTurn() } }

  /// Does the same as `start`. It must be called on the session's queue.
  package func startInTurn() {
    guard !hasEnded else { return }
    backOff.reset()
    guard !isRunning || !isJoined else { return connection.reconnect() }
    let isNew = !isRunning
    isRunning = true
    do throws(StorageError) {
      if try joinAsAgent() { return }
    } catch {
      return fail(error)
    }
    // Only the handle that has the session knows what the server has.
    for call in waits.takeAllDownloads() { call(.otherAgent) }
    if isNew { handler?.fileHasOtherAgent(self) }
  }

  /// Joins the connection, unless another handle of the file has the session. Returns true if this handle has it.
  private func joinAsAgent() throws(StorageError) -> Bool {
    if !isAgent { isAgent = try database.becomeSyncAgent() }
    if isAgent { join(atOnce: true) }
    return isAgent
  }

  private func fail(_ error: StorageError) {
    end(.failed(.storage(error)))
    handler?.file(self, ended: .failed(.storage(error)))
  }

  /// Ends the session. All waits get the problem.
  package func stop(because problem: SyncedFileProblem = .stopped) {
    queue.async { [self] in stopInTurn(because: problem) }
  }

  /// Does the same as `stop`. It must be called on the session's queue.
  package func stopInTurn(because problem: SyncedFileProblem = .stopped) { if isRunning { end(problem) } }

  /// Ends the session for good. The file may be closed after that.
  ///
  /// - Precondition: called on the session's queue.
  package func endInTurn() {
    hasEnded = true
    if isRunning { return end(.stopped) }
    for call in waits.removeAll() { call(.stopped) }
  }

  /// Calls `body` on the session's queue when the present work of the session is done. If `body` returns true, it ends
  /// the session for good. Returns what `body` returns.
  package func endAtOnce(_ body: () -> Bool) -> Bool {
    func end() -> Bool {
      let isOver = body()
      if isOver { endInTurn() }
      return isOver
    }
    // The caller may be a handler, which runs on the queue already.
    return isInTurn ? end() : queue.sync { end() }
  }

  /// True if the calling code runs on the session's queue, whose value for the key `current` is this object.
  package var isInTurn: Bool { DispatchQueue.getSpecific(key: Self.current) == ObjectIdentifier(self) }

  private static let current = DispatchSpecificKey<ObjectIdentifier>()

  private func join(atOnce: Bool = false) {
    run += 1
    isJoined = true
    connection.join(self, run: run, atOnce: atOnce)
  }

  private func leave() {
    run += 1
    (channel, downloaded, isJoined) = (nil, 0, false)
    session.disconnected()
    connection.leave(self)
    handler?.file(self, became: .disconnected)
  }

  private func end(_ problem: SyncedFileProblem) {
    isRunning = false
    leave()
    if isAgent { database.resignAsSyncAgent() }
    isAgent = false
    for call in waits.removeAll() { call(problem) }
  }

  /// Has the changes of a commit sent soon. It has to be called after each commit of the app.
  package func didCommit() {
    guard !isLookDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.async { [self] in
      isLookDue.store(false, ordering: .releasing)
      look()
    }
  }

  /// Looks for a version that was committed meanwhile, perhaps by another process. Sends it and tells the handler.
  package func othersMayHaveCommitted() {
    guard database.version > looked.load(ordering: .acquiring) else { return }
    queue.async { [self] in
      guard !hasEnded, database.version > looked.load(ordering: .acquiring) else { return }
      look()
      handler?.fileDidChange(self)
    }
  }

  /// Tries to take over from another handle, which may have ended without notice, as a killed process does.
  package func othersMayHaveEnded() {
    queue.async { [self] in if isRunning, !isAgent { look() } }
  }

  private func look() {
    // The version is noted first, so that a commit from now on is looked at again.
    looked.store(database.version, ordering: .releasing)
    if isRunning, !isAgent {
      do throws(StorageError) { _ = try joinAsAgent() } catch { return fail(error) }
    }
    perform(session.upload(time: clock.now))
    tellUploads()
    // The session of another handle stores in the file whether a query set is in force or refused.
    if !isAgent { tellQuerySets() }
  }

  // MARK: - Waiting

  /// Calls `body` once the server has decided all changes that are committed now.
  ///
  /// - Returns: a closure that withdraws the wait and releases `body`. A call that is already under way still comes.
  @discardableResult
  package func whenUploaded(
    _ body: @escaping @Sendable (SyncedFileProblem?) -> Void
  ) -> @Sendable () -> Void {
    let last: UInt64
    do {
      last = try database.lastSequence()
    } catch {
      queue.async { [self] in body(hasEnded ? .stopped : .failed(.storage(error))) }
      return {}
    }
    let id = nextWait()
    queue.async { [self] in
      if hasEnded { return body(.stopped) }
      waits.addUpload(id, upTo: last, body)
      tellUploads()
    }
    return withdrawal(of: id)
  }

  /// Does the same on the session's queue. If the session does not run, `body` gets `.stopped` at once.
  package func whenUploadedInTurn(_ body: @escaping @Sendable (SyncedFileProblem?) -> Void) {
    guard isRunning, let last = try? database.lastSequence() else { return body(.stopped) }
    waits.addUpload(nextWait(), upTo: last, body)
    tellUploads()
  }

  /// Calls `body` once the file has all that the server has now.
  ///
  /// - Returns: a closure that withdraws the wait, like that of `whenUploaded`.
  @discardableResult
  package func whenDownloaded(
    _ body: @escaping @Sendable (SyncedFileProblem?) -> Void
  ) -> @Sendable () -> Void {
    let id = nextWait()
    queue.async { [self] in
      if hasEnded { return body(.stopped) }
      if isRunning, !isAgent { return body(.otherAgent) }
      waits.addDownload(id, body)
      askForMarks()
    }
    return withdrawal(of: id)
  }

  /// Calls `body` with true once a query set is in force, or with false once a newer one is.
  ///
  /// - Returns: a closure that withdraws the wait, like that of `whenUploaded`.
  @discardableResult
  package func whenShown(
    querySet number: UInt64, _ body: @escaping @Sendable (Result<Bool, SyncedFileProblem>) -> Void
  ) -> @Sendable () -> Void {
    let id = nextWait()
    queue.async { [self] in
      if hasEnded { return body(.failure(.stopped)) }
      waits.addQuerySet(id, number, body)
      tellQuerySets()
    }
    return withdrawal(of: id)
  }

  private func nextWait() -> UInt64 { lastWait.wrappingAdd(1, ordering: .relaxed).newValue }

  private func withdrawal(of id: UInt64) -> @Sendable () -> Void {
    { [weak self] in
      guard let self else { return }
      // On the queue this comes after the block that adds the wait.
      self.queue.async { self.waits.withdraw(id) }
    }
  }

  /// The number of waits that the session's queue knows at present. It must not be read on that queue.
  package var countOfWaits: Int { queue.sync { waits.count } }

  /// Calls `body` on the session's queue, after all blocks that are queued already.
  package func inTurn(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  private func tellUploads() {
    do throws(StorageError) {
      let snapshot = try database.snapshot()
      let pending = try snapshot.firstPendingSequence()
      let calls = waits.takeUploads(before: pending)
      // Whoever waited for the uploads may ask for the progress at once, and then has to find it complete.
      defer { for call in calls { call(nil) } }
      if try upload.update(snapshot) { tellFigures() }
    } catch {
      for call in waits.takeUploads(before: .max) { call(.failed(.storage(error))) }
    }
  }

  private func tellFigures() { handler?.file(self, uploaded: upload.done, of: upload.total) }

  /// Tells the handler the figures of uploads, even if they have not changed.
  package func report() {
    queue.async { [self] in
      tellUploads()
      tellFigures()
    }
  }

  private func tellQuerySets() {
    guard !waits.querySets.isEmpty else { return }
    do throws(StorageError) {
      let snapshot = try database.snapshot()
      let position = try ClientPosition(snapshot.tree(ClientPosition.tree))
      for (isShown, call) in waits.takeQuerySets(upTo: position.querySet) { call(.success(isShown)) }
      for number in waits.querySets {
        guard case .refused(let code, let text) = try SubscriptionStore.state(of: number, snapshot) else {
          continue
        }
        tellRefused(number, code, text)
      }
    } catch {
      for (_, call) in waits.takeQuerySets(upTo: .max) { call(.failure(.failed(.storage(error)))) }
    }
  }

  private func tellRefused(_ number: UInt64, _ code: UInt32, _ text: String) {
    for call in waits.takeQuerySet(number) { call(.failure(.querySetRefused(code: code, text: text))) }
  }

  private func askForMarks() {
    guard let channel, session.isRunning else { return }
    for request in waits.unasked() {
      connection.send(ClientMessage.mark(request: request).bytes, on: channel)
    }
  }

  // MARK: - The connection

  package func connectionBecame(_ state: ConnectionState) {
    queue.async { [self] in if isRunning { handler?.file(self, became: state) } }
  }

  package func opened(channel: UInt64, run: UInt64) {
    queue.async { [self] in
      guard isRunning, run == self.run else { return }
      (self.channel, downloaded, hasToldGone) = (channel, 0, false)
      waits.forgetAsked()
      // The program may have ended before it was told about refusals.
      if hasRefusals() { handler?.fileHasRefusals(self) }
      do throws(ClientProblem) {
        perform(try session.connected())
      } catch {
        perform([.failed(error), .disconnect(.never)])
      }
    }
  }

  package func received(_ frame: [UInt8], on channel: UInt64) {
    queue.async { [self] in
      defer { connection.taken(frame.count, on: channel) }
      guard channel == self.channel else { return }
      let actions: [ClientSession.Action]
      do throws(MessageDamage) {
        let message = try ServerMessage(bytes: frame)
        if case .step(let step) = message { note(step, frame.count) }
        if case .welcome(let welcome) = message { follow(welcome.limits) }
        actions = session.receive(message, time: clock.now)
      } catch {
        actions = session.receive(error)
      }
      perform(actions)
      askForMarks()
      tellGone()
    }
  }

  /// Tells the server which files of the user are gone, once in a session.
  private func tellGone() {
    guard let channel, session.isRunning, !hasToldGone else { return }
    hasToldGone = true
    for replica in handler?.goneReplicas(of: self).prefix(Self.mostGone) ?? [] {
      connection.send(ClientMessage.retire(replica: replica).bytes, on: channel)
    }
  }

  /// The greatest number of gone files that the server is told in one session.
  private static let mostGone = 1000

  /// The number of bytes of the arriving step that have arrived.
  private var downloaded: UInt64 = 0
  /// The number of the query set of the step that has arrived last, or a part of it.
  private var querySet: UInt64 = 0

  private func note(_ step: Step, _ bytes: Int) {
    downloaded += UInt64(bytes)
    // The number comes from the server and may be anything.
    let rest = step.isLast ? 0 : min(max(1, step.remainingBytes), 1 << 60)
    querySet = step.querySet
    handler?.file(self, downloaded: downloaded, of: downloaded + rest + 1, querySet: querySet)
    if step.isLast { downloaded = 0 }
  }

  package func closed(channel: UInt64, because end: ChannelEnd) {
    queue.async { [self] in
      guard channel == self.channel else { return }
      self.channel = nil
      session.disconnected()
      guard isRunning else { return }
      switch end {
      case .loss(let loss): handler?.file(self, lost: SyncedFileProblem(loss))
      // An error before this was acted upon. Without one, the server has let go of the channel, and another is needed.
      case .server: retry(after: 0)
      case .renewal: break
      }
    }
  }

  package func failed(_ loss: ConnectionLoss, run: UInt64) {
    queue.async { [self] in
      guard isRunning, run == self.run else { return }
      let problem = SyncedFileProblem(loss)
      guard loss.isFinal else {
        handler?.file(self, lost: problem)
        return
      }
      end(problem)
      handler?.file(self, ended: problem)
    }
  }

  /// The longest wait that a server may ask for, in milliseconds.
  private static let longestPause: UInt64 = 3_600_000

  /// Takes over the waits between tries that the server has told.
  private func follow(_ limits: Welcome.Limits) {
    backOff.follow(limits)
    connection.follow(limits)
  }

  /// Leaves the connection, and joins it again after a while for a session on another channel.
  private func retry(after milliseconds: UInt64) {
    leave()
    let wait = max(min(milliseconds, Self.longestPause), backOff.next(clock))
    let current = run
    clock.after(wait, on: queue) { [weak self] in
      guard let self, self.isRunning, current == self.run else { return }
      self.join()
    }
  }

  // MARK: - What the session asks for

  private func perform(_ actions: [ClientSession.Action]) {
    for action in actions { perform(action) }
    // This comes after refusals are reported, because a caller that waits for uploads may close the file.
    if actions.contains(where: \.isStep) { tellUploads() }
  }

  private func perform(_ action: ClientSession.Action) {
    switch action {
    case .send(let message):
      if let channel { connection.send(message.bytes, on: channel) }
    case .disconnect(let retry): disconnect(retry)
    case .applied(let version):
      backOff.reset()
      connection.noteProgress()
      handler?.fileDidChange(self)
      handler?.file(self, downloaded: 1, of: 1, querySet: querySet)
      for call in waits.takeDownloads(upTo: version) { call(nil) }
    case .showsQuerySet: tellQuerySets()
    case .querySetRefused(let number, let code, let text):
      noteRefused(number, code, text)
      tellRefused(number, code, text)
      handler?.fileDidChange(self)
    case .refused: handler?.fileHasRefusals(self)
    case .willReset:
      // The server has forgotten the marks that it was asked for, so they are asked for again.
      waits.forgetAsked()
      hasToldGone = false
      if !session.isResetOfCopy { handler?.fileWillDownloadAnew(self) }
    case .didReset(let isRecovered):
      handler?.fileDidChange(self)
      if !session.isResetOfCopy { handler?.fileWasReset(self, isRecovered: isRecovered) }
    case .mark(let request, let version):
      // The version of a file that is about to be reset says nothing.
      let current = session.isResetting ? 0 : fileVersion()
      for call in waits.take(mark: request, version, at: current) { call(nil) }
    case .retired(let replica): handler?.file(self, retired: replica)
    case .ended(let error): problem = .ended(error)
    case .failed(let error): problem = .failed(error)
    case .callAgain(let wait):
      clock.after(UInt64(wait), on: queue) { [weak self] in self?.look() }
    }
  }

  /// The reason why the session is about to end.
  private var problem: SyncedFileProblem?

  private func disconnect(_ how: ClientSession.Retry) {
    let cause = problem
    problem = nil
    switch how {
    case .after(let milliseconds):
      retry(after: UInt64(milliseconds))
      if let cause { handler?.file(self, lost: cause) }
    case .whenLoggedIn:
      endLogIn()
      if let cause { handler?.file(self, lost: cause) }
    case .withNewerApp, .never:
      end(cause ?? .stopped)
      handler?.file(self, ended: cause ?? .stopped)
    }
  }

  /// Handles the server's message that the user has to log in. The connection finds out whether that means the present
  /// log-in. If so, it tells this session and those of the user's other files.
  private func endLogIn() {
    let told = channel ?? 0
    run += 1
    (channel, downloaded, isJoined) = (nil, 0, true)
    connection.endLogIn(toldOn: told, to: self, run: run)
    handler?.file(self, became: .disconnected)
  }

  private func noteRefused(_ number: UInt64, _ code: UInt32, _ text: String) {
    do throws(ClientProblem) {
      try session.inFile(.relaxed) { (file) throws(ClientProblem) in
        try file.noteRefused(querySet: number, code: code, text: text)
      }
    } catch {
      // The waits are told nevertheless. The server refuses the set again in the next session.
      handler?.file(self, lost: .failed(error))
    }
  }

  private func fileVersion() -> UInt64 {
    do throws(StorageError) {
      return try ClientPosition(database.snapshot().tree(ClientPosition.tree)).version
    } catch { return 0 }
  }
}

extension ClientSession.Action {
  fileprivate var isStep: Bool {
    switch self {
    case .applied, .didReset: true
    default: false
    }
  }
}

extension Database {
  /// The sequence of the last changeset that was written.
  fileprivate func lastSequence() throws(StorageError) -> UInt64 {
    try snapshot().changelog().map { $0.state.nextSequence - 1 } ?? 0
  }
}

extension Snapshot {
  /// The sequence of the first changeset that is not decided yet; the greatest number if all are decided.
  func firstPendingSequence() throws(StorageError) -> UInt64 {
    var first = UInt64.max
    try changelog()?.forEach(self) { (changeset) in
      first = changeset.sequence
      return false
    }
    return first
  }
}
