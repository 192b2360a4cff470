public import Dispatch
import RealmStorage

extension _ObjectWithCounters {
  /// Calls a block when properties of the object change, and when the object is deleted. The block is not called before the first
  /// change.
  ///
  /// Without key paths, the properties of the object itself count: a link changes when it leads to another object, and a
  /// collection changes with its elements. With key paths, only the named properties count, which may lie behind links; the
  /// change is then told of the first property of the path.
  ///
  /// - Parameters:
  ///   - keyPaths: names of properties, joined by dots; nil for all properties of the object. A name of no property stops the
  ///     program.
  ///   - queue: a serial queue that the block is called on; nil for the queue, actor or thread that the object belongs to. The
  ///     block gets the object of that queue.
  ///   - block: gets each change.
  /// - Precondition: the same as for `RealmCollection.observe`.
  /// - Returns: the token that keeps the observer. Keep it for as long as the block is to be called.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    begin(keyPaths, on: queue, block)
  }

  /// Calls a block when properties of the object change, as `observe(keyPaths:on:_:)` does with names, with key paths of the
  /// object's class.
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

  /// A stored value as the program sees it. An enumeration becomes its raw value, and a link becomes its target in the
  /// present state.
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
  /// Calls a block when properties of the object change: see `_ObjectWithCounters.observe`. This is for an object whose class is
  /// not known to the compiler; if the object is not of the class `T`, the program stops at the first change.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    begin(keyPaths, on: queue, block)
  }

  /// Calls a block when properties change, with key paths, for an object whose class is not known to the compiler. If the object
  /// is not of the class `T`, the program stops at the first change.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    begin(keyPaths.map(PropertyRecorder.joinedNames), on: queue, block)
  }

  /// Calls a block in an actor when properties of the object change: see `observe(keyPaths:on:_:)`. The block is isolated to the
  /// actor and gets the object that belongs to it.
  public func observe<A: Actor, T: Object>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    await begin(keyPaths, on: actor, _isolation: _isolation, block)
  }

  /// Calls a block in an actor when properties of the object change, with key paths of the class: see `observe(keyPaths:on:_:)`.
  public func observe<A: Actor, T: Object>(
    keyPaths: [PartialKeyPath<T>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    await begin(keyPaths.map(PropertyRecorder.joinedNames), on: actor, _isolation: _isolation, block)
  }
}

extension EmbeddedObject {
  /// Calls a block when properties of the object change: see `_ObjectWithCounters.observe`. This is for an object whose class is
  /// not known to the compiler; if the object is not of the class `T`, the program stops at the first change.
  @_disfavoredOverload
  public func observe<T: ObjectBase>(
    on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    begin(nil, on: queue, block)
  }

  /// Calls a block in an actor when properties of the object change: see `observe(keyPaths:on:_:)`. The block is isolated to the
  /// actor and gets the object that belongs to it.
  public func observe<A: Actor, T: EmbeddedObject>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    await begin(keyPaths, on: actor, _isolation: _isolation, block)
  }

  /// Calls a block in an actor when properties of the object change, with key paths of the class: see `observe(keyPaths:on:_:)`.
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
