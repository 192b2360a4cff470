public import Dispatch
import RealmStorage

/// The greatest number of links from an element of an observed collection to an object whose changes count as changes
/// of the element. It applies if no key paths are given.
let defaultDepth = 4

extension RealmCollection {
  /// Calls a block when the collection changes: once soon, with `.initial`, then after each change of the version that the realm
  /// shows.
  ///
  /// An element is modified if one of its properties changes, or a property of an object that is at most four links away. With
  /// key paths, an element is modified only if a named property changes. A key path may lead over any number of links and lists
  /// of links, as `"dogs.name"` does. What was changed and then changed back is no change. If several versions follow each other
  /// before the block is called, it is called once for all of them.
  ///
  /// The block may write. Calls of other observers that are due are then made before its transaction begins.
  ///
  /// - Parameters:
  ///   - keyPaths: names of properties, joined by dots; nil for all properties, an empty list for none. A name of no property
  ///     stops the program.
  ///   - queue: a serial queue that the block is called on; nil for the queue, actor or thread that the collection belongs to.
  ///     The block gets the collection of that queue.
  ///   - block: gets each change.
  /// - Precondition: the collection is managed and live, and its realm was not opened with `readOnly` unless it is synced. No
  ///   change was made in an open write transaction. Without a `queue`, the collection belongs to a queue, an actor or a thread
  ///   with a run loop. Otherwise the program stops.
  /// - Returns: the token that keeps the observer. Keep it for as long as the block is to be called.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    Observing.begin(
      self, on: queue,
      { collection in collection.observation(keyPaths) { block($0.of(collection)) } },
      { block(.error($0)) })
  }

  /// Calls a block when the collection changes, as `observe(keyPaths:on:_:)` does with names, with key paths of the class of the
  /// objects.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken where Element: ObjectBase {
    observe(keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: queue, block)
  }

  /// Calls a block in an actor when the collection changes: see `observe(keyPaths:on:_:)`. The block is isolated to the actor and
  /// gets the collection that belongs to it.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken {
    await Observing.begin(
      self, on: actor, _isolation: _isolation,
      { collection, actor in
        collection.observation(keyPaths) { [weak actor] in actor?.tell($0.of(collection), block) }
      },
      { block($1, .error($0)) })
  }

  /// Calls a block in an actor when the collection changes, with key paths of the class of the objects: see
  /// `observe(keyPaths:on:_:)`.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken where Element: ObjectBase {
    await observe(
      keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: actor, _isolation: _isolation, block)
  }

  /// Makes the observer of the collection.
  ///
  /// - Parameter passed: is called after a write that left the observer out.
  func observation(
    _ keyPaths: [String]?, passed: (() -> Void)? = nil, _ tell: @escaping (Told<ElementsChange>) -> Void
  ) -> Observation {
    if let content = _content {
      let context = content.context
      let paths = ObservedPaths(
        keyPaths, of: context.binding, context.session.view.classes(context.session), depth: defaultDepth)
      return RowsObservation(context.session, content.observed, paths, passed: passed, tell)
    }
    guard let content = (self as? any ValueCollection)?.valueContent else {
      preconditionFailure("Observing.begin takes managed collections only")
    }
    if keyPaths != nil {
      raise("Unknown key path", "a \(Self.self) holds values, which have no properties: leave out keyPaths.")
    }
    guard content.isPlain else {
      return ComputedObservation(
        content.cell.owner, { .elements(content.values) }, making: \.ofElements, passed: passed, tell)
    }
    return ValuesObservation(
      content.cell, nil, making: { change, _ in change.ofElements }, passed: passed, tell)
  }
}

extension Told<ElementsChange> {
  func of<C>(_ collection: C) -> RealmCollectionChange<C> {
    switch self {
    case .initial: .initial(collection)
    case .update(let change):
      .update(
        collection, deletions: change.deletions, insertions: change.insertions,
        modifications: change.modifications)
    case .error(let error): .error(error)
    }
  }
}

extension CollectionChange {
  /// The change that an observer of a list or set is told; nil if nothing changed.
  fileprivate var ofElements: ElementsChange? {
    switch self {
    case .none, .keys: nil
    case .elements(let change): change.isEmpty ? nil : change
    case .all(let old, let new):
      ElementsChange(deletions: Array(0..<old), insertions: Array(0..<new))
    }
  }
}

extension _CollectionContent {
  /// The rows of this collection, in a form that the hub can keep up to date.
  var observed: ObservedRows {
    guard let plan = enginePlan() else { return .all(table: context.binding.table?.id ?? .max) }
    return .plan(plan.plan, of: plan.inner?.observed)
  }
}

extension PropertyRecorder {
  static func joinedNames<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> String {
    names(keyPath).joined(separator: ".")
  }
}
