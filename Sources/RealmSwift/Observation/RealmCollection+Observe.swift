public import Dispatch
import RealmStorage

/// Objects that are this many links away count as parts of the objects of a collection that is observed without key paths.
let defaultDepth = 4

extension RealmCollection {
  /// Calls a block when the collection changes: first soon with `.initial`, then after each change of the realm that it shows.
  ///
  /// Elements are modified where a property of theirs changes, or one of an object that is no more than four links away. With key paths they are
  /// modified where a property changes that is named, which may be behind links and lists of links (`"dogs.name"`), without a limit. What was changed and changed back
  /// is no change.
  ///
  /// The block may write; what others are to be told then is told before the transaction begins.
  ///
  /// - Parameters:
  ///   - keyPaths: names of properties, joined by points; nil for all. A name that is none stops the program.
  ///   - queue: a serial queue that the block is called on; nil for where the collection belongs. The block is given the collection of that queue.
  /// - Precondition: it is managed, live, of a realm that may change, and belongs to a queue, an actor or a thread with a run loop; no change was made in
  ///   an open write transaction. Else the program stops.
  /// - Returns: what keeps the observer; keep it.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    Observing.begin(
      self, on: queue,
      { collection in collection.observation(keyPaths) { block($0.of(collection)) } },
      { block(.error($0)) })
  }

  /// The same with key paths of the objects' class.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken where Element: ObjectBase {
    observe(keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: queue, block)
  }

  /// The same in an actor, which the block is isolated to.
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

  /// The same in an actor, with key paths of the objects' class.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken where Element: ObjectBase {
    await observe(
      keyPaths: keyPaths.map(PropertyRecorder.joinedNames), on: actor, _isolation: _isolation, block)
  }

  /// - Parameter passed: is called when the observer was passed over.
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
  /// The change that an observer of a list or set is told; nil where nothing changed.
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
  /// The rows that a hub is to keep up to date for this collection.
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
