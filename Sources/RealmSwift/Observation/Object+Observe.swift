public import Dispatch
import RealmStorage

extension _ObjectWithCounters {
  /// Calls a block when properties of the object change, and when it is deleted. There is no first call.
  ///
  /// Without key paths the object's own properties count: of a link, which object it leads to, of a collection, its elements. With key paths those count that are named, which
  /// may be behind links; the change is told of the first property of the path.
  ///
  /// - Parameters:
  ///   - keyPaths: names of properties, joined by points; nil for all of its own. A name that is none stops the program.
  ///   - queue: a serial queue that the block is called on; nil for where the object belongs. The block is given the object of that queue.
  /// - Precondition: as of `RealmCollection.observe`.
  /// - Returns: what keeps the observer; keep it.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    begin(keyPaths, on: queue, block)
  }

  /// The same with key paths of the object's class.
  public func observe(
    keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    begin(keyPaths.map(PropertyRecorder.joinedNames), on: queue, block)
  }
}

extension ObjectBase {
  fileprivate func begin<T>(
    _ keyPaths: [String]?, on queue: DispatchQueue?, _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    Observing.begin(
      self, on: queue,
      { object in object.observation(keyPaths) { block(object.change($0)) } },
      { block(.error($0)) })
  }

  fileprivate func observation(
    _ keyPaths: [String]?, _ tell: @escaping (ObjectObservation.Event) -> Void
  ) -> Observation {
    guard let row = managedRow else { preconditionFailure("Observing.begin takes managed objects only") }
    let session = row.session
    let paths = ObservedPaths(keyPaths, of: row.context.binding, session.view.classes(session), depth: 0)
    return ObjectObservation(row, paths, tell)
  }

  fileprivate func change<T>(_ event: ObjectObservation.Event) -> ObjectChange<T> {
    switch event {
    case .deleted: return .deleted
    case .error(let error): return .error(error)
    case .change(let changed):
      guard let object = self as? T else {
        raise(
          "Observer of another class",
          "a \(type(of: self)) is observed, and the block is of ObjectChange<\(T.self)>.")
      }
      return .change(object, changed.map(propertyChange))
    }
  }

  private func propertyChange(_ changed: ObjectObservation.Changed) -> PropertyChange {
    let property = ownModel.properties[changed.position]
    guard property.type.form == .value else {
      return PropertyChange(name: property.name, oldValue: nil, newValue: nil)
    }
    let new = stored(changed.position)
    return PropertyChange(
      name: property.name, oldValue: any(changed.old ?? new, changed.position),
      newValue: any(new, changed.position))
  }

  /// A stored value as the program knows it: of an enumeration its raw value; of a link, the object as it is now.
  private func any(_ value: Value, _ changed: Int) -> Any? {
    let property = ownModel.properties[changed]
    switch value {
    case .link(let row):
      guard let target = property.type.target, let context = context?.target(changed, as: target).counted,
        context.hasRow(row, birth: context.session.generation)
      else { return nil }
      return context.object(row)
    case .list, .map: return nil
    default: return value.plain
    }
  }
}

extension Object {
  /// The same, where the class of the object is not known: `T` is what the block is of.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    begin(keyPaths, on: queue, block)
  }

  /// The same with key paths, where the class of the object is not known.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    begin(keyPaths.map(PropertyRecorder.joinedNames), on: queue, block)
  }

  /// The same in an actor, which the block is isolated to.
  public func observe<A: Actor, T: Object>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    await begin(keyPaths, on: actor, _isolation: _isolation, block)
  }

  /// The same in an actor, with key paths.
  public func observe<A: Actor, T: Object>(
    keyPaths: [PartialKeyPath<T>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    await begin(keyPaths.map(PropertyRecorder.joinedNames), on: actor, _isolation: _isolation, block)
  }
}

extension EmbeddedObject {
  /// The same, where the class of the object is not known: `T` is what the block is of.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    begin(nil, on: queue, block)
  }

  /// The same in an actor, which the block is isolated to.
  public func observe<A: Actor, T: EmbeddedObject>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    await begin(keyPaths, on: actor, _isolation: _isolation, block)
  }

  /// The same in an actor, with key paths.
  public func observe<A: Actor, T: EmbeddedObject>(
    keyPaths: [PartialKeyPath<T>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    await begin(keyPaths.map(PropertyRecorder.joinedNames), on: actor, _isolation: _isolation, block)
  }
}

extension ObjectBase {
  fileprivate func begin<A: Actor, T>(
    _ keyPaths: [String]?, on actor: A, _isolation: isolated (any Actor)?,
    _ block: @escaping @Sendable (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    await Observing.begin(
      self, on: actor, _isolation: _isolation,
      { object, actor in
        object.observation(keyPaths) { [weak actor] in actor?.tell(object.change($0), block) }
      },
      { block($1, .error($0)) })
  }
}
