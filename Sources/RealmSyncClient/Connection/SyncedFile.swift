import Dispatch
import RealmStorage
import RealmSync
import Synchronization

/// Runs the session of one file with its server, on a queue of its own: transactions wait for those of the app, and for the disk.
///
/// It begins stopped. While it runs it has a channel of the connection, or waits for one. Of all handles of a file, in whatever processes, one runs a session: to its
/// server the file is one client. The others wait for its end, and are told what it brings into the file.
package final class SyncedFile: ConnectionMember, @unchecked Sendable {
  // Sendable: all that changes is used on the queue, but for what is atomic.

  package let database: Database
  private let queue = DispatchQueue(label: "io.realm.sync.session")
  private let connection: SyncConnection
  private let clock: any SyncClock
  let session: ClientSession
  private(set) weak var handler: (any SyncedFileHandler)?
  /// `didCommit` has asked for a look at the file, which has not been yet.
  private let isLookDue = Atomic<Bool>(false)
  /// The version that was looked at last.
  private let looked = Atomic<UInt64>(0)
  private var isRunning = false
  /// It is the one that may have a session.
  private var isAgent = false
  /// It is a member of the connection. It is none while it waits before another try of its own.
  private var isJoined = false
  /// It is over: the file is being closed.
  private(set) var hasEnded = false
  private var channel: UInt64?
  /// Tells runs from each other: what was to be done later for an earlier one is not done.
  private var run: UInt64 = 0
  private var backOff = BackOff()
  private var waits = SyncedFileWaits()
  /// The number of the last wait.
  private let lastWait = Atomic<UInt64>(0)
  private var upload = UploadFigures()
  /// The server was told in this session which files of the user are gone.
  private var hasToldGone = false

  /// - Parameter database: of a synced file.
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

  /// Tells all that happens to a handler, which is not kept. To be called before `start`.
  package func attach(_ handler: any SyncedFileHandler) { self.handler = handler }

  // MARK: - Running

  /// Connects from now on, or tries again now.
  package func start() { queue.async { [self] in startInTurn() } }

  /// The same for the session's queue.
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
    // Only who has the session knows what the server has.
    for call in waits.takeAllDownloads() { call(.otherAgent) }
    if isNew { handler?.fileHasOtherAgent(self) }
  }

  /// Joins the connection, unless another handle of the file has a session; answers whether it has.
  private func joinAsAgent() throws(StorageError) -> Bool {
    if !isAgent { isAgent = try database.becomeSyncAgent() }
    if isAgent { join(atOnce: true) }
    return isAgent
  }

  private func fail(_ error: StorageError) {
    end(.failed(.storage(error)))
    handler?.file(self, ended: .failed(.storage(error)))
  }

  /// Ends the session. What waits for something of it is told.
  package func stop(because problem: SyncedFileProblem = .stopped) {
    queue.async { [self] in stopInTurn(because: problem) }
  }

  /// The same for the session's queue.
  package func stopInTurn(because problem: SyncedFileProblem = .stopped) { if isRunning { end(problem) } }

  /// Ends the session. The file may be closed behind it.
  ///
  /// - Precondition: called on the session's queue.
  package func endInTurn() {
    hasEnded = true
    if isRunning { return end(.stopped) }
    for call in waits.removeAll() { call(.stopped) }
  }

  /// Ends the session when what it does now is done, if `body` answers true; answers that.
  package func endAtOnce(_ body: () -> Bool) -> Bool {
    func end() -> Bool {
      let isOver = body()
      if isOver { endInTurn() }
      return isOver
    }
    // A handler may be who asks for it.
    return isInTurn ? end() : queue.sync { end() }
  }

  /// The code that runs is called by the session.
  package var isInTurn: Bool { DispatchQueue.getSpecific(key: Self.current) == ObjectIdentifier(self) }

  /// The session whose queue runs.
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

  /// Something was committed: what is new is sent soon. To be called after each commit of the app.
  package func didCommit() {
    guard !isLookDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.async { [self] in
      isLookDue.store(false, ordering: .releasing)
      look()
    }
  }

  /// Somebody has committed, perhaps another process: what is new is sent, and told.
  package func othersMayHaveCommitted() {
    guard database.version > looked.load(ordering: .acquiring) else { return }
    queue.async { [self] in
      guard !hasEnded, database.version > looked.load(ordering: .acquiring) else { return }
      look()
      handler?.fileDidChange(self)
    }
  }

  /// Another handle may have ended its session without a word, as a process that is killed.
  package func othersMayHaveEnded() {
    queue.async { [self] in if isRunning, !isAgent { look() } }
  }

  private func look() {
    // What is committed from now on is looked at again.
    looked.store(database.version, ordering: .releasing)
    if isRunning, !isAgent {
      do throws(StorageError) { _ = try joinAsAgent() } catch { return fail(error) }
    }
    perform(session.upload(time: clock.now))
    tellUploads()
    // The session of another handle notes in the file what has become of a query set.
    if !isAgent { tellQuerySets() }
  }

  // MARK: - Waiting

  /// Calls `body` once all that is committed now is decided by the server.
  ///
  /// - Returns: withdraws the wait, with what it keeps. `body` may be called still where it is on its way.
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

  /// The same for the session's queue. Where the session does not run, `body` is told so at once.
  package func whenUploadedInTurn(_ body: @escaping @Sendable (SyncedFileProblem?) -> Void) {
    guard isRunning, let last = try? database.lastSequence() else { return body(.stopped) }
    waits.addUpload(nextWait(), upTo: last, body)
    tellUploads()
  }

  /// Calls `body` once the file has all that the server has now.
  ///
  /// - Returns: as `whenUploaded` does.
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

  /// Calls `body` once a query set is in force, with true; or once a newer one is, with false.
  ///
  /// - Returns: as `whenUploaded` does.
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
      // Behind what adds it.
      self.queue.async { self.waits.withdraw(id) }
    }
  }

  /// How many wait for something, as the session's queue knows it now. Not to be called on that queue.
  package var countOfWaits: Int { queue.sync { waits.count } }

  /// Calls `body` on the session's queue, behind all that is under way.
  package func inTurn(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  private func tellUploads() {
    do throws(StorageError) {
      let snapshot = try database.snapshot()
      let pending = try snapshot.firstPendingSequence()
      for call in waits.takeUploads(before: pending) { call(nil) }
      if try upload.update(snapshot) { tellFigures() }
    } catch {
      for call in waits.takeUploads(before: .max) { call(.failed(.storage(error))) }
    }
  }

  private func tellFigures() { handler?.file(self, uploaded: upload.done, of: upload.total) }

  /// Tells the figures of uploads, also where they have not changed.
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
      // The program may have ended before it was told.
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

  /// The server is told of so many in one session.
  private static let mostGone = 1000

  /// Bytes of the step that is coming.
  private var downloaded: UInt64 = 0
  /// What the step is cut with that has come last.
  private var querySet: UInt64 = 0

  private func note(_ step: Step, _ bytes: Int) {
    downloaded += UInt64(bytes)
    // What the server says may be anything.
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
      // Behind an error, which was acted upon. Else the server has let go of the channel, and is asked for another.
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

  /// Milliseconds that a server may ask for.
  private static let longestPause: UInt64 = 3_600_000

  /// The server says how long to wait between tries.
  private func follow(_ limits: Welcome.Limits) {
    backOff.follow(limits)
    connection.follow(limits)
  }

  /// The session begins anew on another channel, after a while.
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
    // Behind what was refused: who waits for uploads may close the file.
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
      // The server has forgotten what it was asked.
      waits.forgetAsked()
      hasToldGone = false
      if !session.isResetOfCopy { handler?.fileWillDownloadAnew(self) }
    case .didReset(let isRecovered):
      handler?.fileDidChange(self)
      if !session.isResetOfCopy { handler?.fileWasReset(self, isRecovered: isRecovered) }
    case .mark(let request, let version):
      // What a file has that is to be reset says nothing.
      let current = session.isResetting ? 0 : fileVersion()
      for call in waits.take(mark: request, version, at: current) { call(nil) }
    case .retired(let replica): handler?.file(self, retired: replica)
    case .ended(let error): problem = .ended(error)
    case .failed(let error): problem = .failed(error)
    case .callAgain(let wait):
      clock.after(UInt64(wait), on: queue) { [weak self] in self?.look() }
    }
  }

  /// Why the session is about to end.
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

  /// The server says that the user has to log in. The connection finds out whether that ends the log-in that there is now; where it does,
  /// the session is told, as those of the user's other files are.
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
      // What waits is told all the same. The server refuses the set again in the next session.
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
  /// The sequence of the first changeset that is not decided yet; the greatest number where all are.
  func firstPendingSequence() throws(StorageError) -> UInt64 {
    var first = UInt64.max
    try changelog()?.forEach(self) { (changeset) in
      first = changeset.sequence
      return false
    }
    return first
  }
}
