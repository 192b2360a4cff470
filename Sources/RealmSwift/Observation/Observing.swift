import Dispatch
import RealmStorage

/// Begins observations in the scheduler in which their blocks are called: that of the observed thing, a queue, or an
/// actor.
enum Observing {
  /// Observes a thing in its own scheduler, or on a queue.
  ///
  /// - Parameters:
  ///   - make: makes the observation. It gets the thing in the realm of the scheduler that calls it.
  ///   - failed: is called if the realm can't be opened on the queue.
  static func begin<Thing: ThreadConfined>(
    _ thing: Thing, on queue: DispatchQueue?, _ make: @escaping (Thing) -> Observation,
    _ failed: @escaping (any Error) -> Void
  ) -> NotificationToken {
    let realm = thing.managingRealm("observed")
    let token = NotificationToken()
    let scheduler = queue.map { Scheduler.of($0) }
    guard let queue, scheduler != realm.session.owner else {
      realm.session.checkObservable("a \(Thing.self)")
      token.begin(make(thing))
      return token
    }
    realm.session.checkObservable("a \(Thing.self)", isElsewhere: true)
    let reference = ThreadSafeReference(to: thing)
    let configuration = realm.configuration
    // The block is handed to the queue, which is the only one to run it.
    let body = Handed { [weak token] in
      guard let token, !token.hasEnded else { return }
      do {
        let (life, view) = try RealmFile.session(configuration, .of(queue), isUsed: true)
        guard let found = Realm(life, view).resolve(reference) else { return }
        token.begin(make(found))
      } catch {
        failed(error)
      }
    }
    queue.async { body.value() }
    return token
  }

  /// Observes a thing in an actor.
  static func begin<Thing: ThreadConfined, A: Actor>(
    _ thing: Thing, on actor: A, _isolation: isolated (any Actor)?,
    _ make: @escaping (Thing, A) -> Observation, _ failed: @escaping (any Error, isolated A) -> Void
  ) async -> NotificationToken {
    let realm = thing.managingRealm("observed")
    realm.session.checkObservable("a \(Thing.self)", isElsewhere: true)
    let token = NotificationToken()
    let reference = ThreadSafeReference(to: thing)
    let configuration = realm.configuration
    let (make, failed) = (Handed(make), Handed(failed))
    let body = Handed { (actor: isolated A) in
      do {
        let (life, view) = try RealmFile.session(configuration, .of(actor), isUsed: true)
        guard let found = Realm(life, view).resolve(reference) else { return }
        token.begin(make.value(found, actor))
      } catch {
        failed.value(error, actor)
      }
    }
    await run(body, in: actor)
    return token
  }

  private static func run<A: Actor>(_ body: Handed<(isolated A) -> Void>, in actor: isolated A) {
    body.value(actor)
  }
}

/// Hands a value over to the one place that uses it.
private struct Handed<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}

extension Actor {
  /// Calls a block of an observer. The code that calls this runs in the actor.
  nonisolated func tell<Change>(_ change: Change, _ block: @Sendable (isolated Self, Change) -> Void) {
    let change = Handed(change)
    assumeIsolated { block($0, change.value) }
  }
}
