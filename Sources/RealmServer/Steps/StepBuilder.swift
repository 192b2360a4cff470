import RealmStorage
import RealmSync

/// What a client wants to know.
package struct StepRequest {
  package var replica: UInt64
  /// The version that the client has, and what it sees there.
  package var from: UInt64
  package var old: View
  /// What it is to see then, with the number of the query set.
  package var new: View
  package var querySet: UInt64
  /// The last changeset of the client that it was told to be decided.
  package var told: UInt64 = 0
  /// A part of the step has so many bytes, about.
  package var partBytes = Int.max
  /// The classes and properties that the client is told of; nil for all that there are.
  package var definitions: [SchemaInstruction]?
  /// Up to so many versions are read whole: to look up what concerns the client costs more.
  package var wholeVersions: UInt64 = 16

  package init(replica: UInt64, from: UInt64, old: View, new: View, querySet: UInt64) {
    (self.replica, self.from, self.old, self.new, self.querySet) = (replica, from, old, new, querySet)
  }
}

/// Makes the step that brings a client from one version and view to the newest version and another view.
///
/// An object is told by what was done to it while the client sees it all the time. Else all of it is told, or that it is not seen any more: nothing of the time outside the view is told.
struct StepBuilder {
  private let state: ServerState
  private let replica: Replica
  private let from: UInt64
  private let old: View
  private let new: View
  private let told: UInt64
  private let definitions: [SchemaInstruction]?
  private let partBytes: Int
  private let wholeVersions: UInt64
  private let transaction: WriteTransaction
  private let store: ServerStore
  /// The part that is being made.
  private var step: Step
  /// The numbers in the part of the replicas, by their ordinals.
  private var indexes: [UInt32: UInt32] = [0: 0]
  /// Bytes of the part, about.
  private var bytes = 0

  /// What was done to an object since, in the order of the log.
  private typealias Touch = (entry: HistoryEntry, object: ObjectHistory)

  /// Nil of a replica that is to be reset, since it was retired or is behind the horizon.
  init?(
    _ state: ServerState, _ request: StepRequest, _ transaction: WriteTransaction
  ) throws(StorageError) {
    guard let replica = state.replicas[request.replica], !replica.isRetired, request.from >= state.horizon
    else { return nil }
    (self.state, self.replica, self.transaction) = (state, replica, transaction)
    (from, old, new) = (request.from, request.old, request.new)
    (told, partBytes, wholeVersions) = (request.told, request.partBytes, request.wholeVersions)
    definitions = request.definitions
    store = try ServerStore(transaction, state.settings)
    step = Step(
      from: from, to: state.version, tag: state.tag, querySet: request.querySet,
      partition: replica.partition(at: state.version), mark: state.mark, lastSequence: replica.lastSequence)
  }

  /// - Parameter send: takes the parts, in their order.
  mutating func build(_ send: (Step) throws(StorageError) -> Void) throws(StorageError) {
    // Those that the client has change nothing.
    if let definitions { step.schema = definitions } else { step.schema = try transaction.definitions() }
    var (touches, names) = try changes()
    if old != new {
      for name in try transaction.objectNames(in: movedTables()) where touches[name] == nil {
        names.append(name)
      }
    }
    step.remainingBytes = .max
    for (place, name) in names.enumerated() {
      if bytes >= partBytes {
        step.isLast = false
        step.remainingObjects = UInt64(names.count - place)
        let estimate = step.remainingObjects * UInt64(bytes / max(1, step.objects.count))
        step.remainingBytes = min(step.remainingBytes, estimate)
        try send(step)
        (step.own, step.schema, step.replicas, step.objects) = ([], [], [0], [])
        (indexes, bytes) = ([0: 0], 0)
      }
      try add(name, touches.removeValue(forKey: name) ?? [])
    }
    (step.isLast, step.remainingObjects, step.remainingBytes) = (true, 0, 0)
    try send(step)
  }

  // MARK: - What has changed

  /// What was done to the objects that the client sees or saw, and perhaps to others.
  private mutating func changes() throws(StorageError) -> ([ObjectName: [Touch]], [ObjectName]) {
    var touches: [ObjectName: [Touch]] = [:]
    var names: [ObjectName] = []
    func add(_ entry: HistoryEntry, _ object: ObjectHistory) {
      if touches[object.name] == nil { names.append(object.name) }
      touches[object.name, default: []].append((entry, object))
    }
    for version in try store.versions(ofReplica: replica.ordinal, after: told) where version > from {
      guard let entry = try store.history(of: version) else { continue }
      step.own.append(
        OwnChangeset(
          sequence: entry.sequence, version: version, stamp: entry.stamp, hash: entry.hash,
          refusals: entry.refusals))
    }
    if let places = try routedPlaces() {
      for version in places.keys.sorted() {
        guard let entry = try store.history(of: version) else { continue }
        for place in (places[version] ?? []).sorted() where place < entry.objects.count {
          add(entry, entry.objects[place])
        }
      }
    } else {
      for version in stride(from: from + 1, through: state.version, by: 1) {
        guard let entry = try store.knownHistory(of: version) else { continue }
        for object in entry.objects { add(entry, object) }
      }
    }
    return (touches, names)
  }

  /// The places of changes by their versions, as the index of the history tells them; nil where all of it is to be read.
  private func routedPlaces() throws(StorageError) -> [UInt64: Set<Int>]? {
    guard state.version - from > wholeVersions else { return nil }
    var routes: [(table: UInt32, [FieldFilter.Route])] = []
    for table in try transaction.schemas() where !table.isEmbedded {
      for view in [old, new] {
        guard let found = view.routes(of: table.name, state.settings) else { return nil }
        routes.append((table.id, found))
      }
    }
    var places: [UInt64: Set<Int>] = [:]
    for (table, routes) in routes {
      for route in routes { try store.places(route, table: table, after: from, &places) }
    }
    return places
  }

  /// The classes of which the client may see other objects than before, whatever was done to them.
  private func movedTables() throws(StorageError) -> Set<String> {
    Set(try transaction.schemas().map(\.name).filter { !old.shows(sameAs: new, of: $0) })
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
    // It may have been deleted again since, outside the view.
    guard isTold, var deletion = merged.deletion, deletion.version == touches.last?.entry.version else {
      if was { tell(name, .left) }
      return
    }
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
    // Changes outside the view may be left out here, but not those that bring an object into it or take it out.
    return touches.allSatisfy { touch in
      [touch.object.before, touch.object.after].allSatisfy { $0 == nil || shows(new, $0, name) }
    }
  }

  private func mayRead(_ values: [Value]?, _ name: ObjectName, until version: UInt64) -> Bool {
    guard shows(new, values, name) else { return false }
    var then = state.view(replica, querySet: .everything, at: version)
    then.asking.partition = nil
    return shows(then, values, name)
  }

  private mutating func tell(_ name: ObjectName, _ change: ObjectStep.Change) {
    step.objects.append(ObjectStep(name, change))
    if partBytes != .max { bytes += change.size + 16 }
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
  /// Makes the step that brings a replica to the newest version.
  ///
  /// - Parameter send: takes the parts of the step, in their order.
  /// - Returns: false where the replica is to be reset, since it was retired or is behind the horizon.
  /// - Throws: `StorageError`.
  package func step(
    _ request: StepRequest, _ transaction: WriteTransaction,
    _ send: (Step) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    guard var builder = try StepBuilder(self, request, transaction) else { return false }
    try builder.build(send)
    return true
  }
}

extension ObjectStep.Change {
  /// Bytes that it takes in a message, about.
  fileprivate var size: Int {
    switch self {
    case .effects(let all):
      all.reduce(0) { size, effects in
        guard case .others(_, let made) = effects else { return size + 8 }
        return made.reduce(size + 16) { $0 + $1.instruction.size }
      }
    case .whole(let instructions): instructions.reduce(0) { $0 + $1.size }
    case .left, .deleted: 8
    }
  }
}

extension Instruction {
  fileprivate var size: Int {
    switch self {
    case .set(_, let value, _), .setInsert(_, let value), .setErase(_, let value): 8 + value.size
    case .insert(_, _, _, _, let value): 16 + value.size
    default: 8
    }
  }
}

extension InstructionValue {
  fileprivate var size: Int {
    switch self {
    case .value(.string(let text)): text.utf8.count
    case .value(.data(let data)): data.count
    case .list(let values), .map(_, let values): values.reduce(8) { $0 + $1.size }
    default: 8
    }
  }
}
