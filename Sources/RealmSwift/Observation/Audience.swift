import RealmStorage

/// The observers of one session. Guarded by the hub's lock.
final class Audience: @unchecked Sendable {
  // Sendable: it is used under the hub's lock.
  let inbox: SchedulerInbox
  private(set) var observations: [Observation] = [] {
    didSet { (keptIndex, keptOrders, followers, prepared) = (nil, nil, [], nil) }
  }
  private var keptIndex: ObservationIndex?
  /// The changes since the observers were called last.
  var changes = NetChanges()
  /// The classes that the session had when an observer was added last.
  private var schema: RealmSchema
  /// The version for which the observers have been called, or are about to be.
  private var calledFor: UInt64 = 0

  /// The path of the file, for messages.
  private let path: String

  init(_ session: RealmSession, _ schema: RealmSchema) {
    inbox = session.inbox
    path = session.file.database.path
    self.schema = schema
  }

  func add(_ observation: Observation, _ schema: RealmSchema) {
    observations.append(observation)
    self.schema = schema
  }

  /// Removes and returns the observations that satisfy a condition.
  func remove(where isGone: (Observation) -> Bool) -> [Observation] {
    let gone = observations.filter(isGone)
    if !gone.isEmpty { observations.removeAll(where: isGone) }
    return gone
  }

  /// Finds the observers of a table. It is made when it is first used after observers were added or removed.
  private var index: ObservationIndex {
    if let keptIndex { return keptIndex }
    let index = ObservationIndex(observations)
    keptIndex = index
    return index
  }

  /// Whether the observers are to be called for a version. That is true once for each version, and also as long as an
  /// observer has news.
  func isCalled(for version: UInt64) -> Bool {
    let isNews = calledFor != version || observations.contains { $0.hasNews }
    calledFor = version
    return isNews
  }

  /// Whether a call in the session's scheduler is queued.
  var isCalled = false

  func beginCall() -> Bool {
    defer { isCalled = true }
    return !isCalled
  }

  /// The changes to tell, if the hub has found them before it calls the scheduler; nil otherwise.
  private var prepared: ChangesToTell?

  /// Finds which objects count as modified, and their positions in their collections. The hub does this so that the
  /// scheduler, which may be the main queue, has less work.
  func prepare(_ version: Snapshot) {
    let touched = observations.filter { $0.isTouched && $0.ownChanges == nil && !$0.isEnded }
    guard !touched.isEmpty, let told = try? changesToTell(changes, in: version) else { return }
    for observation in touched {
      // If a read fails here, `takeCalls` meets the same error and tells it.
      try? observation.prepare(told)
    }
    prepared = told
  }

  private func changesToTell(
    _ changes: NetChanges, in version: Snapshot
  ) throws(StorageError) -> ChangesToTell {
    try ChangesToTell(changes.changes(in: version), in: version, Set(observations.compactMap(\.table)))
  }

  /// Brings the observers that a step concerns to its newer version. Returns which of the watched tables changed; nil if that
  /// could not be found.
  func follow(_ step: VersionStep) -> Set<UInt32>? {
    prepared = nil
    let index = index
    var changed: Set<UInt32> = []
    var isDamaged = false
    do throws(StorageError) {
      try check(step)
      for table in try index.tables(step) {
        do throws(StorageError) {
          if try !step.changes(of: table).isEmpty { changed.insert(table) }
        } catch {
          // Observers of other tables go on.
          isDamaged = true
          for observation in index.concerned(by: [table]) {
            observation.failure = observation.failure ?? error
          }
        }
      }
      try changes.add(step, changed)
    } catch {
      fail(error)
      return nil
    }
    for observation in index.concerned(by: changed) where !observation.isEnded && observation.failure == nil {
      observation.isTouched = true
      observation.follow(step)
      if keptOrders != nil, let rows = observation as? RowsObservation, !rows.hasFollowed {
        rows.hasFollowed = true
        followers.append(rows)
      }
    }
    return isDamaged ? nil : changed
  }

  func fail(_ error: StorageError) {
    for observation in observations { observation.failure = observation.failure ?? error }
  }

  /// Fails if the schema changed so that plans no longer fit: they name columns by their positions in the tables that the session
  /// knows.
  private func check(_ step: VersionStep) throws(StorageError) {
    guard try step.old.schemaVersion() != step.new.schemaVersion() else { return }
    let tables = Dictionary(uniqueKeysWithValues: try step.schemas().map { ($0.id, $0) })
    for binding in schema.bindings {
      guard let bound = binding.table else { continue }
      guard let found = tables[bound.id], binding.fits(found) else {
        throw .schemaChanged(table: bound.name, column: nil, path: path)
      }
    }
  }

  /// Returns the calls that tell what has changed.
  ///
  /// - Parameters:
  ///   - version: the version that the session shows, and that the observers were brought to.
  ///   - pulling: the only observer that is called, because it takes its change now; nil to call all that are ready.
  func takeCalls(_ version: Snapshot, pulling: Observation? = nil) -> [ObserverCall] {
    var calls: [ObserverCall] = []
    let untold = changes
    var told = prepared?.version.version == version.version ? prepared : nil
    if pulling == nil { (changes, prepared) = (NetChanges(), nil) }
    for observation in observations where !observation.isEnded && observation.failure == nil {
      if let pulling, pulling !== observation { continue }
      guard observation.isTouched || observation.isNew || pulling != nil else { continue }
      guard pulling != nil || observation.isReady else {
        // From now on the changes of this observer are kept apart from those of the observers that are called.
        if observation.ownChanges == nil, !untold.isEmpty { observation.ownChanges = untold }
        continue
      }
      observation.isTouched = false
      do throws(StorageError) {
        let restore = observation.restoring()
        var call: (() -> Void)?
        if observation.isNew, let first = observation.first() {
          call = first
        } else if let own = observation.ownChanges {
          call = try observation.call(changesToTell(own, in: version))
        } else {
          let changes: ChangesToTell
          if let told {
            changes = told
          } else {
            changes = try changesToTell(untold, in: version)
          }
          told = changes
          call = try observation.call(changes)
        }
        if observation.isPulled, pulling == nil, call != nil {
          // The observer is only woken. What changed is found when it takes the change.
          restore()
          observation.ownChanges = observation.ownChanges ?? untold
          // It may take nothing when it is woken, and ask again.
          observation.isTouched = true
          observation.didCall()
          calls.append(ObserverCall(observation) { observation.wake?() })
          continue
        }
        (observation.isNew, observation.ownChanges) = (false, pulling == nil ? nil : NetChanges())
        if let call { calls.append(ObserverCall(observation, call)) }
      } catch {
        observation.failure = error
      }
    }
    return calls
  }

  private var keptOrders: [RowPlan: RowOrder]?
  /// The observers that have followed a step since the orders were taken last.
  private var followers: [RowsObservation] = []

  /// Returns the orders that the observers watch, in the version that they were brought to. Only observers that followed a step
  /// are asked again.
  ///
  /// - Precondition: observers that failed were removed.
  func takeOrders() -> [RowPlan: RowOrder] {
    // An observer that has ended follows no steps, so that its order is not kept.
    let hasEnded = observations.contains { $0.isEnded }
    if keptOrders == nil || hasEnded {
      keptOrders = [:]
      followers = observations.filter { !$0.isEnded }.compactMap { $0 as? RowsObservation }
    }
    for rows in followers {
      rows.hasFollowed = false
      if let (plan, order) = rows.watched { keptOrders?[plan] = order }
    }
    followers = []
    defer { if hasEnded { keptOrders = nil } }
    return keptOrders ?? [:]
  }

  /// Returns the last calls of the observers that failed. They are made whatever version the session shows.
  func takeFailures() -> (calls: [ObserverCall], gone: [Observation]) {
    let gone = remove { $0.failure != nil }
    let calls = gone.compactMap { observation in
      observation.failure.flatMap { observation.failed(Realm.Error($0)) }
        .map { ObserverCall(observation, $0, isLast: true) }
    }
    return (calls, gone)
  }
}

/// A call of an observer. It was computed for the version that the observer's realm shows.
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
