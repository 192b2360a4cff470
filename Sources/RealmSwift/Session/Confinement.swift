import Dispatch
import Foundation

/// Who may use a realm and its objects: one thread, or one serial queue.
///
/// A realm opened on the main thread belongs to the main queue, whose work the system may run on other threads.
enum Confinement: Hashable {
  case thread(ThreadID)
  case mainQueue
  case queue(Queue)

  /// The one that code is running in now.
  static var current: Confinement { isMain ? .mainQueue : .thread(ThreadID.current) }

  /// The thread that is always in it, where that is the one that is running.
  var home: ThreadID? {
    switch self {
    case .thread(let id): id
    case .mainQueue: Thread.isMainThread ? ThreadID.current : nil
    case .queue: nil
    }
  }

  /// Whether the running code is in it.
  var isHere: Bool {
    switch self {
    case .thread(let id): id == ThreadID.current
    case .mainQueue: Self.isMain
    case .queue(let queue): DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue.queue)
    }
  }

  var description: String {
    switch self {
    case .thread: "the thread that opened it"
    case .mainQueue: "the main queue"
    case .queue(let queue): "the queue \(queue.queue.label)"
    }
  }

  /// Makes the queue known to `isHere`.
  static func marking(_ queue: DispatchQueue) -> Confinement {
    if queue === DispatchQueue.main { return .mainQueue }
    queue.setSpecific(key: key, value: ObjectIdentifier(queue))
    return .queue(Queue(queue: queue))
  }

  /// The same when it is the same object.
  struct Queue: Hashable, Sendable {
    let queue: DispatchQueue
    static func == (left: Queue, right: Queue) -> Bool { left.queue === right.queue }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(queue)) }
  }

  private static let key = DispatchSpecificKey<ObjectIdentifier>()
  private static let mainKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  private static var isMain: Bool {
    Thread.isMainThread || DispatchQueue.getSpecific(key: mainKey) == true
  }
}
