import Dispatch
import Foundation
import RealmStorage
import Synchronization

/// Follows the versions of one open file, for all observers in this process.
///
/// It learns of a version by commits of this process, and by a thread that waits for those of others. It moves from version to version, in a queue of its
/// own: what changed in a table is found once for all observers. Then it calls the schedulers whose observers have something to be told; there the
/// realm moves to the hub's version, and observers are called (`SessionObservers`). So what they are told is exactly what the realm shows then.
///
/// While there are observers the hub keeps the version that it has come to, and no other.
final class ChangeHub: FileWatcher, Sendable {
  private unowned let file: RealmFile
  private let queue = DispatchQueue(label: "io.realm.changes")
  private let isScheduled = Atomic<Bool>(false)
  private let waiter = Mutex<CommitWaiter?>(nil)
  private let added = Mutex<[Added]>([])
  private let work = Mutex(Work())

  private struct Added: @unchecked Sendable {
    // Sendable: used under the lock of the work from then on.
    let observation: Observation
    let start: Snapshot?
  }

  /// Reached under one lock.
  private struct Work: @unchecked Sendable {
    var version: Snapshot?
    var audiences: [ObjectIdentifier: Audience] = [:]
  }

  /// The observers of one session.
  private final class Audience {
    let inbox: SchedulerInbox
    var observations: [Observation] = []
    /// Since they were called last.
    var changes = NetChanges()
    init(_ inbox: SchedulerInbox) { self.inbox = inbox }

    /// Nil for all there are.
    var tables: Set<UInt32>? {
      var tables: Set<UInt32> = []
      for observation in observations {
        guard let more = observation.tables else { return nil }
        tables.formUnion(more)
      }
      return tables
    }
  }

  /// - Parameter file: keeps this.
  init(_ file: RealmFile) { self.file = file }

  // MARK: - Observers come and go

  func add(_ observation: Observation) {
    let session = observation.life.session
    let added = Added(observation: observation, start: session.shownVersion)
    self.added.withLock { $0.append(added) }
    session.watched(by: self).hasCollections = true
    waitForOthers()
    didCommit()
  }

  /// Some have ended.
  func removeSoon() { didCommit() }

  private var hasObservers: Bool {
    added.withLock { !$0.isEmpty } || work.withLock { !$0.audiences.isEmpty }
  }

  // MARK: - Moving on

  /// There may be a newer version, or somebody to be told. It returns at once.
  func didCommit() {
    if isScheduled.exchange(true, ordering: .acquiringAndReleasing) { return }
    // The file is there while somebody observes it.
    queue.async { self.run() }
  }

  private func run() {
    isScheduled.store(false, ordering: .releasing)
    struct Ready: @unchecked Sendable {
      // Sendable: what has ended is only let go of.
      var audiences: [(ObjectIdentifier, SchedulerInbox)] = []
      var ended: [Observation] = []
    }
    // What has ended is let go of outside of the lock: with the last of a session that ends.
    let ready = work.withLock { work -> Ready in
      takeAdded(&work)
      var ready = Ready(ended: drop(&work))
      guard !work.audiences.isEmpty else { return ready }
      advance(&work, to: nil)
      ready.audiences = work.audiences.map { ($0.key, $0.value.inbox) }
      return ready
    }
    for (id, inbox) in ready.audiences { inbox.enqueue { [weak self] in self?.deliver(id) } }
  }

  private func takeAdded(_ work: inout Work) {
    let new = added.withLock { added in
      let taken = added
      added = []
      return taken
    }
    for added in new where !added.observation.isEnded {
      let observation = added.observation
      let session = observation.life.session
      if work.version == nil {
        work.version = added.start ?? (try? session.file.database.snapshot())
      }
      if let start = added.start { advance(&work, to: start) }
      guard let version = work.version else { continue }
      do throws(StorageError) {
        if let start = added.start, observation.tellsFromStart, start.version < version.version {
          try observation.begin(in: start)
          try follow(observation, VersionStep(from: start, to: version))
        } else {
          try observation.begin(in: version)
        }
      } catch {
        observation.failure = error
      }
      let id = ObjectIdentifier(session)
      let audience = work.audiences[id] ?? Audience(session.inbox)
      audience.observations.append(observation)
      work.audiences[id] = audience
    }
  }

  /// Forgets observers that have ended.
  private func drop(_ work: inout Work) -> [Observation] {
    var ended: [Observation] = []
    for (id, audience) in work.audiences {
      let isGone = audience.inbox.isGone
      ended += audience.observations.filter { $0.isEnded || isGone }
      audience.observations.removeAll { $0.isEnded || isGone }
      if audience.observations.isEmpty { work.audiences[id] = nil }
    }
    if work.audiences.isEmpty { work.version = nil }
    return ended
  }

  /// - Parameter newer: nil for the newest version.
  private func advance(_ work: inout Work, to newer: Snapshot?) {
    guard let old = work.version, let new = newer ?? (try? file.database.snapshot()),
      new.version > old.version
    else { return }
    let step = VersionStep(from: old, to: new)
    for audience in work.audiences.values {
      do throws(StorageError) {
        var tables = audience.tables ?? []
        if audience.tables == nil { tables = Set(try step.schemas().map(\.id)) }
        try audience.changes.add(step, tables)
      } catch {
        for observation in audience.observations { observation.failure = observation.failure ?? error }
      }
      for observation in audience.observations where !observation.isEnded && observation.failure == nil {
        do throws(StorageError) { try follow(observation, step) } catch { observation.failure = error }
      }
    }
    work.version = new
  }

  private func follow(_ observation: Observation, _ step: VersionStep) throws(StorageError) {
    try observation.update(step)
    if observation.ownChanges != nil {
      var tables = observation.tables ?? []
      if observation.tables == nil { tables = Set(try step.schemas().map(\.id)) }
      try observation.ownChanges?.add(step, tables)
    }
  }

  // MARK: - Telling

  /// In the scheduler of a session: calls its observers.
  private func deliver(_ id: ObjectIdentifier) {
    let life = work.withLock { Kept($0.audiences[id]?.observations.first?.life) }.life
    (life?.session.observers as? SessionObservers)?.deliver()
  }

  private struct Kept: @unchecked Sendable {
    // Sendable: a life never changes.
    let life: SessionLife?
    init(_ life: SessionLife?) { self.life = life }
  }

  /// The calls that tell the observers of a session what has changed, where it shows the version that the hub has come to; it moves there where it may.
  func calls(_ session: RealmSession) -> [ObserverCall] {
    struct Calls: @unchecked Sendable {
      // Sendable: they are made by the session's scheduler, which is running.
      var calls: [ObserverCall] = []
      var newer: Snapshot?
    }
    struct Here: @unchecked Sendable { let session: RealmSession }
    let here = Here(session: session)
    let newer = work.withLock { work in
      takeAdded(&work)
      if let shown = here.session.shownVersion { advance(&work, to: shown) }
      return work.version
    }
    // Outside of the lock: it calls the observers of the realm.
    if let newer, session.autorefresh, session.shownVersion.map({ $0.version < newer.version }) ?? true {
      _ = session.refresh(to: newer)
    }
    return work.withLock { work -> Calls in
      let session = here.session
      guard let audience = work.audiences[ObjectIdentifier(session)], let version = work.version,
        session.shownVersion?.version == version.version
      else { return Calls() }
      return Calls(calls: take(audience, version))
    }.calls
  }

  private func take(_ audience: Audience, _ version: Snapshot) -> [ObserverCall] {
    var calls: [ObserverCall] = []
    let watched = Set(audience.observations.compactMap(\.table))
    var told: ChangesToTell?
    var damage: StorageError?
    do throws(StorageError) {
      told = try ChangesToTell(audience.changes.changes(in: version), in: version, watched)
    } catch {
      damage = error
    }
    audience.changes = NetChanges()
    for observation in audience.observations where !observation.isEnded {
      do throws(StorageError) {
        if let failure = observation.failure ?? damage { throw failure }
        guard let told else { continue }
        var call: (() -> Void)?
        if observation.isNew, let first = observation.first() {
          call = first
        } else if let own = observation.ownChanges {
          call = try observation.call(ChangesToTell(own.changes(in: version), in: version, watched))
        } else {
          call = try observation.call(told)
        }
        (observation.isNew, observation.ownChanges) = (false, nil)
        if let call { calls.append(ObserverCall(observation, call)) }
      } catch {
        if let call = observation.failed(Realm.Error(error)) {
          calls.append(ObserverCall(observation, call, isLast: true))
        }
        observation.failure = error
      }
    }
    audience.observations.removeAll { $0.failure != nil }
    return calls
  }

  // MARK: - Passing over

  /// Observers are not to be told of what the session commits now.
  func pass(_ observations: [Observation], _ session: RealmSession, _ commit: () throws -> Void) throws {
    struct Here: @unchecked Sendable {
      let session: RealmSession
      let observations: [Observation]
    }
    let here = Here(session: session, observations: observations)
    let base = session.baseVersion
    work.withLock { work in
      takeAdded(&work)
      if let base { advance(&work, to: base) }
    }
    try commit()
    work.withLock { work in
      guard let shown = here.session.shownVersion else { return }
      advance(&work, to: shown)
      for observation in here.observations where !observation.isNew && observation.failure == nil {
        // What it would be told is forgotten.
        _ = try? observation.call(ChangesToTell([:], in: shown, []))
        observation.ownChanges = NetChanges()
      }
    }
  }

  // MARK: - Other processes

  /// Begins to wait for commits of other processes.
  private func waitForOthers() {
    if file.isInMemory { return }
    waiter.withLock { waiter in
      if waiter?.hasEnded == false { return }
      waiter = CommitWaiter(file.database) { [weak self] in
        guard let self, self.hasObservers else { return false }
        self.didCommit()
        return true
      }
    }
  }

  func fileWillClose() { waiter.withLock { $0 }?.stop() }
}

/// A call of an observer, which was computed for the version that its realm shows.
struct ObserverCall {
  private let observation: Observation
  private let body: () -> Void
  private let isLast: Bool

  init(_ observation: Observation, _ body: @escaping () -> Void, isLast: Bool = false) {
    (self.observation, self.body, self.isLast) = (observation, body, isLast)
  }

  func run() {
    if observation.isEnded { return }
    body()
    if isLast { observation.end() }
  }
}

extension RealmFile {
  /// Made when something is observed first.
  var hub: ChangeHub { watcher { ChangeHub(self) } as! ChangeHub }
}
