import RealmStorage
import Synchronization

/// An observer: what it watches, what it was told last, and how it is called. Each kind of observer is a subclass.
///
/// The hub brings the observer from version to version. The scheduler of its realm calls it.
class Observation: @unchecked Sendable {
  // Sendable: its state is used under the hub's lock, and what it calls is called by the scheduler of its realm.
  let hub: ChangeHub
  /// Keeps the session in which the observer is called.
  let life: SessionLife
  private let hasEnded = Atomic<Bool>(false)
  /// Whether the observer has not had its first call.
  var isNew = true
  /// Whether something has changed, since the observer was called last, in the tables that concern it.
  var isTouched = false
  var failure: StorageError?
  /// The changes since this observer was passed over, or began; nil if its changes are those that the other observers
  /// of its session are told.
  var ownChanges: NetChanges?

  init(_ session: RealmSession) {
    life = session.life
    hub = session.file.hub
  }

  final var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

  /// Ends the observer. May be called on any thread.
  final func end() {
    if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
    // A task that waits for the observer is woken, and finds that it has ended.
    wake?()
    hub.didEnd()
    // If this was the last observer of the realm, the realm moves by itself again.
    life.session.file.didCommit(nil)
  }

  /// Whether the observer is pulled: a task asks for a change, is woken when there may be one, and then takes it.
  final var isPulled: Bool { wake != nil }
  /// Called when there may be something to take (`ChangeHub.takeCalls`). Nil for an observer that is not pulled.
  final var wake: (() -> Void)?
  private let hasAsked = Atomic<Bool>(false)

  /// Asks to be woken when there is something, now or later. May be called on any thread.
  final func ask() {
    hasAsked.store(true, ordering: .releasing)
    hub.didCommit()
  }

  /// Whether the observer is called now. The changes that a pulled observer has not asked for are kept for later.
  final var isReady: Bool { !isPulled || hasAsked.load(ordering: .acquiring) }
  final func didCall() { hasAsked.store(false, ordering: .releasing) }

  /// Whether the observer is called even if the version is the same as at its last call.
  final var hasNews: Bool { isNew || failure != nil || isPulled && isReady }

  /// Brings the observer from the older version of a step to the newer one.
  final func follow(_ step: VersionStep) {
    do throws(StorageError) {
      try update(step)
      guard ownChanges != nil else { return }
      var tables = tables ?? []
      if self.tables == nil { tables = Set(try step.schemas().map(\.id)) }
      try ownChanges?.add(step, tables)
    } catch {
      failure = error
    }
  }

  // MARK: - For the hub

  /// Whether the observer has no first call, and is told of all that changed since it was made.
  var tellsFromStart: Bool { false }
  /// The tables whose changes concern the observer; nil for all tables.
  var tables: Set<UInt32>? { nil }
  /// The table whose objects the observer may tell as modified.
  var table: UInt32? { nil }

  func begin(in version: Snapshot, _ pool: LivePool) throws(StorageError) {}
  func update(_ step: VersionStep) throws(StorageError) {}

  /// Finds what `call` will need, so that all observers of the same rows share it.
  func prepare(_ changes: ChangesToTell) throws(StorageError) {}

  /// The first call; nil if there is none.
  func first() -> (() -> Void)? { nil }
  /// The call that tells what changed; nil if nothing changed. After this, the observer counts as told of all changes up to now.
  func call(_ changes: ChangesToTell) throws(StorageError) -> (() -> Void)? { nil }
  /// Returns a function that restores what the observer had been told when this was called.
  func restoring() -> () -> Void { {} }
  /// Is called in the scheduler of the observer's realm after a write that left the observer out. The observer then
  /// takes the state after the write as known.
  var didPass: (() -> Void)? { nil }
  /// The last call, which tells that the file can't be read.
  func failed(_ error: any Error) -> (() -> Void)? { nil }
}
