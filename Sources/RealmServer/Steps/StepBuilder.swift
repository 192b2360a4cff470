import RealmStorage
import RealmSync

/// A request for a step: where the client is, and where the step leads.
package struct StepRequest {
  package var replica: UInt64
  /// The version that the client has, and its view at that version.
  package var from: UInt64
  package var old: View
  /// The view that the client has after the step, and the number of its query set.
  package var new: View
  package var querySet: UInt64
  /// The sequence of the last changeset of which the client was told that it is decided.
  package var told: UInt64 = 0
  /// The size of a part of the step in bytes, about.
  package var partBytes = Int.max
  /// The definitions of classes and properties that the client is told; nil for all definitions of the server.
  package var definitions: [SchemaInstruction]?
  /// If the client is behind by at most this number of versions, they are read whole, because a lookup of what concerns
  /// the client would cost more.
  package var wholeVersions: UInt64 = 16

  package init(replica: UInt64, from: UInt64, old: View, new: View, querySet: UInt64) {
    (self.replica, self.from, self.old, self.new, self.querySet) = (replica, from, old, new, querySet)
  }
}

/// Writes into a step what was done to objects since the version that a client has.
///
/// If the client sees an object before the step and after each of its changes, the effects of the changes are told. An
/// object that the client has created itself counts as seen from its creation on. In all other cases either the whole
/// object is told, or that it has left the view or was deleted, so that the client learns nothing of the time in which
/// the object was outside its view.
struct StepBuilder {
  private let state: ServerState
  private let replica: Replica
  private let from: UInt64
  private let old: View
  private let new: View
  private let told: UInt64
  private let wholeVersions: UInt64
  private let transaction: WriteTransaction
  private let store: ServerStore
  private(set) var writer: StepWriter

  /// One change of an object, with the entry of the history that made it.
  private typealias Touch = (entry: HistoryEntry, object: ObjectHistory)

  /// Nil if the replica has to be reset, because it is unknown, it was retired, or its version is before the horizon.
  init?(
    _ state: ServerState, _ request: StepRequest, _ transaction: WriteTransaction
  ) throws(StorageError) {
    guard let replica = state.replicas[request.replica], !replica.isRetired, request.from >= state.horizon
    else { return nil }
    (self.state, self.replica, self.transaction) = (state, replica, transaction)
    (from, old, new) = (request.from, request.old, request.new)
    (told, wholeVersions) = (request.told, request.wholeVersions)
    store = try ServerStore(transaction, state.settings)
    let step = Step(
      from: from, to: state.version, tag: state.tag, querySet: request.querySet,
      partition: replica.partition(at: state.version), mark: state.mark, lastSequence: replica.lastSequence)
    writer = StepWriter(step, replicas: state.numbers, partBytes: request.partBytes)
    // A request may name the definitions to tell, because those that the client has already would change nothing.
    writer.step.schema = if let known = request.definitions { known } else { try transaction.definitions() }
  }

  /// - Parameters:
  ///   - others: the greatest number of objects that may be told behind these.
  ///   - send: receives the parts that are complete, in their order.
  /// - Returns: the objects whose changes were looked at, whether they were told or not.
  mutating func build(
    before others: Int, _ send: (Step) throws(StorageError) -> Void
  ) throws(StorageError) -> Set<ObjectName> {
    let (touches, names) = try changes()
    for (place, name) in names.enumerated() {
      if writer.isFull { try send(writer.cut(remaining: names.count - place + others)) }
      try add(name, touches[name] ?? [])
    }
    return Set(names)
  }

  // MARK: - What has changed

  /// The changes of the objects that the client sees or saw, and perhaps of others, in the order of the log; and these
  /// objects in the order of their first changes.
  private mutating func changes() throws(StorageError) -> ([ObjectName: [Touch]], [ObjectName]) {
    var touches: [ObjectName: [Touch]] = [:]
    var names: [ObjectName] = []
    func add(_ entry: HistoryEntry, _ object: ObjectHistory) {
      if touches[object.name] == nil { names.append(object.name) }
      touches[object.name, default: []].append((entry, object))
    }
    for version in try store.versions(ofReplica: replica.ordinal, after: told) where version > from {
      guard let entry = try store.history(of: version) else { continue }
      writer.step.own.append(
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

  /// The places of changes by version, found by the index of the history; nil if all of the history has to be read.
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
      if was || isOwn(touches), between.allSatisfy(\.self) {
        if !touches.isEmpty { writer.tell(name, .effects(touches.map { effects($0) })) }
      } else {
        let content = try object.content() ?? []
        writer.tell(name, .whole(content.map { $0.mapReplicas { writer.index($0) } }))
      }
      return
    }
    guard was || (between.contains(true) && now == nil) else { return }
    let isTold = now == nil && mayTellDeletion(name, touches, was: was)
    guard was || isTold else { return }
    let merged = try MergedObject(object, records: MergeRecords(transaction))
    // The object may have been deleted once more after these changes, outside the view.
    guard isTold, var deletion = merged.deletion, deletion.version == touches.last?.entry.version else {
      if was { writer.tell(name, .left) }
      return
    }
    deletion.replica = writer.index(deletion.replica)
    writer.tell(name, .deleted(deletion))
  }

  /// Whether the client has created the object, nobody else has changed it since, and all of this took effect as the
  /// client has written it. It is false for a replica with a partition, because its new objects get a value that the
  /// client did not write.
  private func isOwn(_ touches: [Touch]) -> Bool {
    guard let first = touches.first, first.object.before == nil,
      replica.partition(at: first.entry.version) == nil
    else { return false }
    return touches.allSatisfy { touch in
      touch.entry.replica == replica.ordinal && touch.entry.sequence > told && touch.object.isAsWritten
    }
  }

  /// Whether the client may be told that the object was deleted. It may if it saw the object until the deletion.
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
    // The changes in `touches` may lack those outside the view, but not those that bring the object into the view or
    // out of it.
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

  private mutating func effects(_ touch: Touch) -> ObjectEffects {
    if touch.entry.replica == replica.ordinal, touch.object.isAsWritten {
      return .own(sequence: touch.entry.sequence)
    }
    let decided = DecidedBy(
      version: touch.entry.version, stamp: touch.entry.stamp, replica: writer.index(touch.entry.replica))
    return .others(decided, touch.object.effects.map { $0.mapReplicas { writer.index($0) } })
  }
}
