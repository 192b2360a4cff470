public import Dispatch
import RealmStorage

/// A map that can be observed.
protocol ObservedMap {
  func observation(_ keyPaths: [String]?, _ tell: @escaping (Told<KeyChanges>) -> Void) -> Observation
}

extension RealmKeyedCollection {
  /// Calls a block when the collection changes; see `Map.observe`.
  ///
  /// - Precondition: the collection is a `Map`; another type stops the program.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmMapChange<Self>) -> Void
  ) -> NotificationToken {
    Observing.begin(
      self, on: queue,
      { collection in
        guard let map = collection as? any ObservedMap else {
          raise("Unknown collection", "a \(Self.self) is no Map, and can't be observed.")
        }
        return map.observation(keyPaths) { block(collection.change($0)) }
      },
      { block(.error($0)) })
  }

  fileprivate func change(_ told: Told<KeyChanges>) -> RealmMapChange<Self> {
    switch told {
    case .initial: .initial(self)
    case .update(let change):
      .update(
        self, deletions: change.deletions.map { Key(_mapKey: $0) },
        insertions: change.insertions.map { Key(_mapKey: $0) },
        modifications: change.modifications.map { Key(_mapKey: $0) })
    case .error(let error): .error(error)
    }
  }
}

extension Map: ObservedMap {
  /// Calls a block when the map changes: once soon, with `.initial`, then after each change of the version that the realm shows.
  /// A key is modified if it has another value, or if the object that it leads to changes as an element of a collection does.
  /// Parameters, preconditions and result are those of `RealmCollection.observe`.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmMapChange<Map>) -> Void
  ) -> NotificationToken {
    Observing.begin(
      self, on: queue,
      { map in map.observation(keyPaths) { block(map.change($0)) } },
      { block(.error($0)) })
  }

  /// Calls a block in an actor when the map changes: see `observe(keyPaths:on:_:)`. The block is isolated to the actor and gets
  /// the map that belongs to it.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmMapChange<Map>) -> Void
  ) async -> NotificationToken {
    await Observing.begin(
      self, on: actor, _isolation: _isolation,
      { map, actor in map.observation(keyPaths) { [weak actor] in actor?.tell(map.change($0), block) } },
      { block($1, .error($0)) })
  }

  /// Calls a block in an actor when the map changes, with key paths of the class of the objects: see `observe(keyPaths:on:_:)`.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Value.Wrapped>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmMapChange<Map>) -> Void
  ) async -> NotificationToken where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    await observe(
      keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: actor, _isolation: _isolation, block)
  }

  func observation(
    _ keyPaths: [String]?, _ tell: @escaping (Told<KeyChanges>) -> Void
  ) -> Observation {
    guard let content = valueContent else {
      preconditionFailure("Observing.begin takes managed collections only")
    }
    let cell = content.cell
    var paths: ObservedPaths?
    if let target = Value._elementType.target {
      let session = cell.owner.session
      paths = ObservedPaths(
        keyPaths, of: cell.elementContext(as: target).binding, session.view.classes(session),
        depth: defaultDepth)
    } else if keyPaths != nil {
      raise("Unknown key path", "a \(Self.self) holds values, which have no properties: leave out keyPaths.")
    }
    guard content.isPlain else {
      return ComputedObservation(
        cell.owner, { .map(self.isInvalidated ? ValueMap() : self.storedMap) }, making: { $0.ofKeys([]) },
        tell)
    }
    return ValuesObservation(cell, paths, making: { $0.ofKeys($1) }, tell)
  }
}

extension CollectionChange {
  /// The change that an observer of a map is told; nil if nothing changed.
  ///
  /// - Parameter modified: the keys whose objects changed.
  fileprivate func ofKeys(_ modified: Set<String>) -> KeyChanges? {
    var changes = KeyChanges()
    if case .keys(let found) = self { changes = found }
    let known = Set(changes.insertions + changes.modifications)
    let more = modified.filter { !known.contains($0) }
    if !more.isEmpty {
      changes.modifications = (changes.modifications + more).sorted {
        $0.utf8.lexicographicallyPrecedes($1.utf8)
      }
    }
    return changes.isEmpty ? nil : changes
  }
}
