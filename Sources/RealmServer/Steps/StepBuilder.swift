import RealmStorage
import RealmSync

/// Makes the step that brings a client from one version and view to the newest version and another view.
///
/// An object is told by what was done to it while the client sees it all the time. Else all of it is told, or that it is not seen any more: nothing of the time outside the view is told.
struct StepBuilder {
  private let state: ServerState
  private let replica: Replica
  private let from: UInt64
  private let old: View
  private let new: View
  private let transaction: WriteTransaction
  private var step: Step
  /// The numbers in the step of the replicas, by their ordinals.
  private var indexes: [UInt32: UInt32] = [0: 0]

  /// What was done to an object since, in the order of the log.
  private typealias Touch = (entry: HistoryEntry, object: ObjectHistory)

  init?(
    _ state: ServerState, _ number: UInt64, from: UInt64, _ old: View, to new: View, querySet: UInt64,
    _ transaction: WriteTransaction
  ) {
    guard let replica = state.replicas[number], !replica.isRetired, from >= state.horizon else { return nil }
    (self.state, self.replica, self.from) = (state, replica, from)
    (self.old, self.new, self.transaction) = (old, new, transaction)
    step = Step(
      from: from, to: state.version, tag: state.tag, querySet: querySet,
      partition: replica.partition(at: state.version), mark: state.mark, lastSequence: replica.lastSequence)
  }

  mutating func build() throws(StorageError) -> Step {
    // Those that the client has change nothing.
    step.schema = try transaction.definitions()
    var touches: [ObjectName: [Touch]] = [:]
    var names: [ObjectName] = []
    let store = try ServerStore(transaction)
    for version in stride(from: from + 1, through: state.version, by: 1) {
      guard let entry = try store.history(of: version) else { continue }
      if entry.replica == replica.ordinal {
        step.own.append(
          OwnChangeset(
            sequence: entry.sequence, version: version, stamp: entry.stamp, hash: entry.hash,
            refusals: entry.refusals))
      }
      for object in entry.objects {
        if touches[object.name] == nil { names.append(object.name) }
        touches[object.name, default: []].append((entry, object))
      }
    }
    if old != new {
      for name in try transaction.objectNames() where touches[name] == nil { names.append(name) }
    }
    for name in names { try add(name, touches[name] ?? []) }
    return step
  }

  // MARK: - Objects

  private func shows(_ view: View, _ values: [Value]?, _ name: ObjectName) -> Bool {
    view.shows(values, of: name.table, state.settings)
  }

  private mutating func add(_ name: ObjectName, _ touches: [Touch]) throws(StorageError) {
    let object = try transaction.object(name)
    let now = try object.values(of: state.settings.fields(of: name.table))
    let was = shows(old, touches.isEmpty ? now : touches[0].object.before, name)
    let between = touches.map { shows(new, $0.object.after, name) }
    if shows(new, now, name) {
      if was, between.allSatisfy(\.self) {
        if !touches.isEmpty { tell(name, .effects(touches.map { effects($0) })) }
      } else {
        let content = try object.content() ?? []
        tell(name, .whole(content.map { $0.mapReplicas { index($0) } }))
      }
      return
    }
    guard was || (between.contains(true) && now == nil) else { return }
    let isTold = now == nil && mayTellDeletion(name, touches, was: was)
    guard was || isTold else { return }
    let merged = try MergedObject(object, records: MergeRecords(transaction))
    guard isTold, var deletion = merged.deletion else { return tell(name, .left) }
    deletion.replica = index(deletion.replica)
    tell(name, .deleted(deletion))
  }

  /// A deletion is told only to who saw the object until then.
  private func mayTellDeletion(_ name: ObjectName, _ touches: [Touch], was: Bool) -> Bool {
    if was {
      guard let first = touches.first, mayRead(first.object.before, name, until: first.entry.version - 1)
      else {
        return false
      }
      for (place, touch) in touches.enumerated() where touch.object.after != nil {
        let until = place + 1 < touches.count ? touches[place + 1].entry.version - 1 : touch.entry.version
        guard mayRead(touch.object.after, name, until: until) else { return false }
      }
      return true
    }
    guard old == new, !state.isViewMoved(replica, from: from, to: state.version) else { return false }
    return touches.allSatisfy { $0.object.after == nil || shows(new, $0.object.after, name) }
  }

  private func mayRead(_ values: [Value]?, _ name: ObjectName, until version: UInt64) -> Bool {
    guard shows(new, values, name) else { return false }
    var then = state.view(replica, querySet: .everything, at: version)
    then.asking.partition = nil
    return shows(then, values, name)
  }

  private mutating func tell(_ name: ObjectName, _ change: ObjectStep.Change) {
    step.objects.append(ObjectStep(name, change))
  }

  private mutating func effects(_ touch: Touch) -> ObjectEffects {
    if touch.entry.replica == replica.ordinal, touch.object.isAsWritten {
      return .own(sequence: touch.entry.sequence)
    }
    let decided = DecidedBy(
      version: touch.entry.version, stamp: touch.entry.stamp, replica: index(touch.entry.replica))
    return .others(decided, touch.object.effects.map { $0.mapReplicas { index($0) } })
  }

  /// The number in the step of a replica. A new one gets the next.
  private mutating func index(_ ordinal: UInt32) -> UInt32 {
    if let known = indexes[ordinal] { return known }
    let index = UInt32(step.replicas.count)
    step.replicas.append(Int(ordinal) < state.numbers.count ? state.numbers[Int(ordinal)] : 0)
    indexes[ordinal] = index
    return index
  }
}

extension ServerState {
  /// The step that brings a replica to the newest version; nil of one that is to be reset, since it was retired or is behind the horizon.
  ///
  /// - Parameters:
  ///   - old: the view at the version that it has.
  ///   - querySet: the number of the query set of the new view.
  /// - Throws: `StorageError`.
  package func step(
    for replica: UInt64, from version: UInt64, _ old: View, to new: View, querySet: UInt64,
    _ transaction: WriteTransaction
  ) throws(StorageError) -> Step? {
    guard
      var builder = StepBuilder(
        self, replica, from: version, old, to: new, querySet: querySet, transaction)
    else { return nil }
    return try builder.build()
  }
}
