import RealmStorage
import Synchronization

/// One observer: what it watches, what it was told last, and how it is called.
///
/// The hub brings it up to date from version to version; it is called in the scheduler of its realm. Each kind of observer inherits from this.
class Observation: @unchecked Sendable {
  // Sendable: its state is used under the hub's lock, and what is called by the scheduler of its realm.
  let hub: ChangeHub
  /// Keeps the session that it is called in.
  let life: SessionLife
  private let hasEnded = Atomic<Bool>(false)
  /// Begins to be told with the next call.
  var isNew = true
  /// Something has changed in the tables that concern it since it was told last.
  var isTouched = false
  var failure: StorageError?
  /// The changes since this observer was passed over, or began, where they differ from those that the other observers of its session are told.
  var ownChanges: NetChanges?

  init(_ session: RealmSession) {
    life = session.life
    hub = session.file.hub
  }

  final var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

  /// On any thread.
  final func end() {
    if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
    // Who waits for it does not any more.
    wake?()
    hub.didEnd()
    // The realm moves by itself again where this was its last observer.
    life.session.file.didCommit(nil)
  }

  /// It takes what there is by itself, when it has asked whether there is something.
  final var isPulled: Bool { wake != nil }
  /// Called when there is something that it may take (`ChangeHub.takeCalls`).
  final var wake: (() -> Void)?
  private let hasAsked = Atomic<Bool>(false)

  /// On any thread: it is to be told what there is, or comes next.
  final func ask() {
    hasAsked.store(true, ordering: .releasing)
    hub.didCommit()
  }

  /// Whether it is to be told now; what it is not told of is kept for later.
  final var isReady: Bool { !isPulled || hasAsked.load(ordering: .acquiring) }
  final func didCall() { hasAsked.store(false, ordering: .releasing) }

  /// It is to be called though the version is the same.
  final var hasNews: Bool { isNew || failure != nil || isPulled && isReady }

  /// Brings it to the newer version of a step.
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

  /// It is told of what changed since it was made, without a first call.
  var tellsFromStart: Bool { false }
  /// The tables whose changes concern it; nil for all.
  var tables: Set<UInt32>? { nil }
  /// Objects of these may be told as modified.
  var table: UInt32? { nil }

  func begin(in version: Snapshot, _ pool: LivePool) throws(StorageError) {}
  func update(_ step: VersionStep) throws(StorageError) {}

  /// Finds what `call` will need, for all who share it.
  func prepare(_ changes: ChangesToTell) throws(StorageError) {}

  /// The first call; nil where there is none.
  func first() -> (() -> Void)? { nil }
  /// The call that tells what changed; nil where that is nothing. What it was told is what is now from then on.
  func call(_ changes: ChangesToTell) throws(StorageError) -> (() -> Void)? { nil }
  /// Answers a function that brings back what the observer had been told when this is called.
  func restoring() -> () -> Void { {} }
  /// It was passed over, and shows what is now. In the scheduler of its realm.
  var didPass: (() -> Void)? { nil }
  /// The last call, where the file can't be read.
  func failed(_ error: any Error) -> (() -> Void)? { nil }
}
