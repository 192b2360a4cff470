import Dispatch
import Foundation

/// The owner of a realm and its objects: one thread, one serial queue, the main queue, or one actor.
///
/// The whole library asks a scheduler two questions: whether the running code is in it (`isHere`), and how code runs in
/// it later (`SchedulerInbox.enqueue(_:)`).
///
/// A realm that is opened on the main thread, the main queue or the main actor belongs to the main queue. These three
/// are the same scheduler, and the system may run its work on any thread.
enum Scheduler: Hashable, Sendable {
  case thread(ThreadID)
  case mainQueue
  case queue(Queue)
  case actor(ActorReference)
  /// No particular owner. A frozen realm has this scheduler, because it may be read anywhere.
  case anyone

  /// The scheduler in which the code is running: the main queue or the thread. Queues and actors are not found, because
  /// they count only if the program names them.
  static var current: Scheduler { isMain ? .mainQueue : .thread(ThreadID.current) }

  /// The scheduler of an actor.
  static func of(_ actor: any Actor) -> Scheduler {
    actor === MainActor.shared ? .mainQueue : .actor(ActorReference(actor))
  }

  /// The scheduler of a queue. From now on, `isHere` recognizes code that runs on the queue.
  ///
  /// - Precondition: the queue is serial. A concurrent queue stops the program.
  static func of(_ queue: DispatchQueue) -> Scheduler {
    // On Linux, each call of `DispatchQueue.main` returns another object for the same queue.
    if queue.getSpecific(key: mainKey) == true { return .mainQueue }
    if queue.isConcurrent {
      raise(
        "Concurrent queue",
        "the queue \(queue.label) runs blocks at the same time, and a realm is used by one at a time: open it on a serial queue."
      )
    }
    queue.setSpecific(key: queueKey, value: ObjectIdentifier(queue))
    return .queue(Queue(queue: queue))
  }

  /// The thread that always belongs to the scheduler; nil if there is none. For the main queue, it is the main thread if
  /// that is the current thread, and otherwise nil.
  var home: ThreadID? {
    switch self {
    case .thread(let id): id
    case .mainQueue: Thread.isMainThread ? ThreadID.current : nil
    case .queue, .actor, .anyone: nil
    }
  }

  /// Whether the compiler guarantees that objects stay in the scheduler, so that reads of properties need not check it.
  var isKeptByCompiler: Bool { if case .actor = self { true } else { false } }

  /// Whether the running code is in the scheduler.
  var isHere: Bool {
    switch self {
    case .thread(let id): id == ThreadID.current
    case .mainQueue: Self.isMain
    case .queue(let queue): DispatchQueue.getSpecific(key: Self.queueKey) == ObjectIdentifier(queue.queue)
    case .actor(let reference): reference.isRunning
    case .anyone: true
    }
  }

  var description: String {
    switch self {
    case .thread: "the thread that opened it"
    case .mainQueue: "the main queue"
    case .queue(let queue): "the queue \(queue.queue.label)"
    case .actor(let reference): reference.actor.map { "the actor \(type(of: $0))" } ?? "an actor that is gone"
    case .anyone: "nobody alone"
    }
  }

  // MARK: - Queues and actors

  /// Queues are equal if they are the same object.
  struct Queue: Hashable, Sendable {
    let queue: DispatchQueue
    static func == (left: Queue, right: Queue) -> Bool { left.queue === right.queue }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(queue)) }
  }

  /// Actors are equal if they are the same object and it still exists. The reference is weak because the actor keeps
  /// the realm.
  struct ActorReference: Hashable, Sendable {
    weak let actor: (any Actor)?
    private let id: ObjectIdentifier

    init(_ actor: any Actor) {
      self.actor = actor
      id = ObjectIdentifier(actor)
    }

    /// Whether the running code is isolated to the actor.
    var isRunning: Bool { actor.map { CurrentExecutor.is($0.unownedExecutor) } ?? false }

    static func == (left: ActorReference, right: ActorReference) -> Bool {
      left.id == right.id && left.actor === right.actor
    }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
  }

  private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()
  private static let mainKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  private static var isMain: Bool {
    Thread.isMainThread || DispatchQueue.getSpecific(key: mainKey) == true
  }
}
