import Dispatch
import Foundation
import RealmStorage
import Synchronization

/// Follows the versions of one open file, for all observers in this process.
///
/// The hub learns of versions by the commits of this process, and by a thread that waits for the commits of other
/// processes. It moves from version to version on a queue of its own, and finds what changed in a table once for all
/// observers. Then it calls the schedulers whose observers have to be called. In the scheduler, the realm moves to the
/// hub's version, and the observers are called (`SessionObservers`). So the realm shows exactly what they are told.
///
/// While there are observers, the hub keeps the version that it has reached, and no other.
final class ChangeHub: FileWatcher, Sendable {
  private unowned let file: RealmFile
  private let queue = DispatchQueue(label: "io.realm.changes")
  private let isScheduled = Atomic<Bool>(false)
  /// The number of observers that have not ended, including observers of realms.
  private let observers = Atomic<Int>(0)
  private let waiter = Mutex<CommitWaiter?>(nil)
  private let added = Mutex<[Added]>([])
  private let work = Mutex(Work())

  private struct Added: @unchecked Sendable {
    // Sendable: an observation that was added is used only under the lock of `work`.
    let observation: Observation
    let start: Snapshot?
    let schema: RealmSchema
  }

  /// The state of the hub, which is guarded by one lock.
  private struct Work: @unchecked Sendable {
    var version: Snapshot?
    var audiences: [ObjectIdentifier: Audience] = [:]
    var pool = LivePool()
    /// The number of sessions that are about to call observers for `version`. While there are any, the hub stays at
    /// that version.
    var holders = 0
    /// Whether there was a newer version while the hub had to stay.
    var isBehind = false
    /// Observers that have ended. They are freed outside of the lock: a session may end with an observer, and objects of the
    /// program may be freed with it.
    private(set) var gone: [Observation] = []

    mutating func letGo(_ observations: [Observation]) {
      gone += observations
      for case let observation as RowsObservation in observations { observation.leave(pool) }
    }

    mutating func takeGone() -> [Observation] {
      defer { gone = [] }
      return gone
    }
  }

  /// - Parameter file: keeps this hub.
  init(_ file: RealmFile) { self.file = file }

  private struct Locked<Result>: @unchecked Sendable {
    // Sendable: what is made under the lock is used by the thread that took it.
    let result: Result
    let gone: [Observation]
  }

  /// Calls `body` under the lock. Observers that it lets go of are freed when the lock is free again.
  private func locked<Result>(_ body: (inout Work) -> Result) -> Result {
    let locked = withoutActuallyEscaping(body) { body in
      let body = Locked(result: body, gone: [])
      return work.withLock { work in
        let result = body.result(&work)
        return Locked(result: result, gone: work.takeGone())
      }
    }
    return withExtendedLifetime(locked.gone) { locked.result }
  }

  // MARK: - Observers come and go

  func add(_ observation: Observation) {
    let session = observation.life.session
    let added = Added(
      observation: observation, start: session.shownVersion ?? session.baseVersion, schema: session.schema)
    self.added.withLock { $0.append(added) }
    session.watched(by: self).add(observation)
    countObserver(by: 1)
    didCommit()
  }

  /// Takes note that an observer has ended. May be called on any thread.
  func didEnd() {
    countObserver(by: -1)
    let isDone = work.withLockIfAvailable { work -> Locked<Bool> in
      takeAdded(&work)
      drop(&work)
      return Locked(result: true, gone: work.takeGone())
    }
    if isDone == nil { didCommit() }
  }

  /// Changes the number of observers. Observers of realms are counted, too.
  func countObserver(by change: Int) {
    observers.wrappingAdd(change, ordering: .acquiringAndReleasing)
    if change > 0 { waitForOthers() }
  }

  // MARK: - Moving on

  /// Lets the hub look for a newer version and for observers to call. Returns at once.
  func didCommit() {
    if isScheduled.exchange(true, ordering: .acquiringAndReleasing) { return }
    // The queue keeps the hub. The file exists as long as an observer exists.
    queue.async { self.run() }
  }

  private func run() {
    _ = isScheduled.exchange(false, ordering: .acquiringAndReleasing)
    let called = locked { work -> [Audience] in
      takeAdded(&work)
      drop(&work)
      guard !work.audiences.isEmpty else { return [] }
      advance(&work, to: nil)
      let called = work.audiences.values.filter {
        $0.isCalled(for: work.version?.version ?? 0) && $0.beginCall()
      }
      if let version = work.version { for audience in called { audience.prepare(version) } }
      return called
    }
    for audience in called { audience.inbox.enqueue { [weak self] in self?.deliver(audience) } }
  }

  private func takeAdded(_ work: inout Work) {
    let new = added.withLock { added in
      let taken = added
      added = []
      return taken
    }
    for added in new {
      let observation = added.observation
      if observation.isEnded {
        work.letGo([observation])
        continue
      }
      let session = observation.life.session
      do throws(StorageError) {
        let version: Snapshot
        if let known = work.version {
          version = known
        } else if let start = added.start {
          version = start
        } else {
          version = try session.file.database.snapshot()
        }
        work.version = version
        if let start = added.start { advance(&work, to: start) }
        let current = work.version ?? version
        if let start = added.start, observation.tellsFromStart, start.version < current.version {
          try observation.begin(in: start, work.pool)
          observation.follow(VersionStep(from: start, to: current))
        } else {
          try observation.begin(in: current, work.pool)
        }
      } catch {
        observation.failure = error
      }
      let id = ObjectIdentifier(session)
      let audience = work.audiences[id] ?? Audience(session, added.schema)
      audience.add(observation, added.schema)
      work.audiences[id] = audience
    }
  }

  /// Forgets the observers that have ended.
  private func drop(_ work: inout Work) {
    for (id, audience) in work.audiences {
      let isGone = audience.inbox.isGone
      work.letGo(audience.remove { $0.isEnded || isGone })
      if audience.observations.isEmpty { work.audiences[id] = nil }
    }
    if work.audiences.isEmpty { work.version = nil }
  }

  /// - Parameter newer: the version to which the hub moves; nil for the newest one.
  private func advance(_ work: inout Work, to newer: Snapshot?) {
    guard let old = work.version else { return }
    // While sessions are about to call observers, the hub moves only to a later version that one of them shows.
    if newer == nil, work.holders > 0 { return work.isBehind = true }
    do throws(StorageError) {
      let new: Snapshot
      if let newer { new = newer } else { new = try file.database.snapshot() }
      guard new.version > old.version else { return }
      let step = VersionStep(from: old, to: new)
      for audience in work.audiences.values { work.pool.note(audience.follow(step), new.version) }
      work.version = new
    } catch {
      for audience in work.audiences.values { audience.fail(error) }
    }
  }

  // MARK: - Telling

  /// Calls the observers of a session, in the scheduler of that session.
  private func deliver(_ audience: Audience) {
    let life = locked { work in
      audience.isCalled = false
      return audience.observations.first.flatMap { observation in
        work.audiences[ObjectIdentifier(observation.life.session)] === audience ? observation.life : nil
      }
    }
    (life?.session.observers as? SessionObservers)?.deliver()
  }

  /// Returns the calls that tell the observers of a session what has changed, if the session shows the version of the hub. The
  /// session is moved there first if it may move.
  ///
  /// - Parameter pulling: the only observer that is called, because it takes its change now; nil to call all that are
  ///   ready.
  func takeCalls(_ session: RealmSession, pulling: Observation? = nil) -> [ObserverCall] {
    let id = ObjectIdentifier(session)
    // The hub stays at its version until the calls are made.
    let newer = locked { work -> Snapshot? in
      takeAdded(&work)
      if let shown = session.shownVersion { advance(&work, to: shown) }
      work.holders += 1
      return work.version
    }
    // This is outside of the lock, since it calls the observers of the realm.
    var damage: StorageError?
    if let newer, session.shownVersion.map({ session.autorefresh && $0.version < newer.version }) ?? true {
      do throws(StorageError) { _ = try session.refresh(to: newer) } catch { damage = error }
    }
    let (calls, orders, isBehind) = locked { work -> ([ObserverCall], [RowPlan: RowOrder]?, Bool) in
      work.holders -= 1
      let isBehind = work.holders == 0 && work.isBehind
      if isBehind { work.isBehind = false }
      guard let audience = work.audiences[id] else { return ([], nil, isBehind) }
      if let damage { audience.fail(damage) }
      var calls: [ObserverCall] = []
      var orders: [RowPlan: RowOrder]?
      if let version = work.version, session.shownVersion?.version == version.version {
        calls = audience.takeCalls(version, pulling: pulling)
      }
      let failures = audience.takeFailures()
      work.letGo(failures.gone)
      if let version = work.version, session.shownVersion?.version == version.version {
        orders = audience.takeOrders()
      }
      if audience.observations.isEmpty { work.audiences[id] = nil }
      return (calls + failures.calls, orders, isBehind)
    }
    // Collections that are watched take these orders, and need not run their queries.
    if let orders { (session.observers as? SessionObservers)?.note(orders) }
    if isBehind { didCommit() }
    return calls
  }

  // MARK: - Passing over

  /// Commits a transaction without calling some observers.
  func pass(_ observations: [Observation], _ session: RealmSession, _ commit: () throws -> Void) throws {
    let base = session.baseVersion
    let id = ObjectIdentifier(session)
    // An observer is left out only if it was told of everything before the transaction. The others are told what other
    // transactions wrote, together with this commit.
    let isTold = locked { work in
      takeAdded(&work)
      if let base { advance(&work, to: base) }
      work.holders += 1
      return work.version?.version == base?.version && work.audiences[id]?.changes.isEmpty == true
    }
    defer {
      let isBehind = locked { work in
        work.holders -= 1
        defer { work.isBehind = work.holders > 0 && work.isBehind }
        return work.holders == 0 && work.isBehind
      }
      if isBehind { didCommit() }
    }
    try commit()
    let passed = locked { work -> [Observation] in
      // If the session now also shows commits of others, observers are told of all of it.
      guard isTold, let base, let shown = session.shownVersion, shown.version == base.version + 1 else {
        return []
      }
      advance(&work, to: shown)
      let passed = observations.filter { !$0.isNew && $0.failure == nil && $0.ownChanges?.isEmpty ?? true }
      for observation in passed {
        // The call that the observer would get is dropped.
        do throws(StorageError) {
          _ = try observation.call(ChangesToTell([:], in: shown, []))
          observation.ownChanges = NetChanges()
        } catch {
          observation.failure = error
        }
      }
      return passed
    }
    for observation in passed { observation.didPass?() }
  }

  // MARK: - Other processes

  /// Begins to wait for commits of other processes.
  private func waitForOthers() {
    if file.isInMemory { return }
    waiter.withLock { waiter in
      if waiter != nil { return }
      waiter = CommitWaiter(file.database) { [weak self] in self?.goOnWaiting(isNewer: $0) ?? false }
    }
  }

  /// Runs on the thread that waits. Returns false if the thread is to end.
  private func goOnWaiting(isNewer: Bool) -> Bool {
    // This is decided under the lock, so that an observer that comes later begins another waiter.
    let isNeeded = waiter.withLock { waiter in
      if observers.load(ordering: .acquiring) > 0 { return true }
      waiter = nil
      return false
    }
    guard isNeeded else { return false }
    // This is not done on the present thread: a call may release the last reference to the file, and closing the file
    // waits for this thread.
    if isNewer { queue.async { [weak file] in file?.didCommit(nil) } }
    return true
  }

  func fileWillClose() { waiter.withLock { $0 }?.stop() }

  /// Returns when the observers that have ended are freed.
  func settle() {
    didCommit()
    queue.sync {}
  }
}

extension RealmFile {
  /// The hub of the file, which is made when something is first observed.
  var hub: ChangeHub { watcher { ChangeHub(self) } }
}
