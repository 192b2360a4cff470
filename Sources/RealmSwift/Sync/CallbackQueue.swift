import Dispatch
import Synchronization

/// Calls the closures that an app has registered with device sync: on the main queue, one after another.
///
/// A program without a main run loop does not serve its main queue. In such a program the calls are made on the queue
/// `realm.sync.callbacks`.
enum CallbackQueue {
  private enum Place {
    /// It is not known yet whether the program serves the main queue. The calls wait here until that is known.
    case unknown([@Sendable () -> Void])
    case main
    case other
  }
  private static let other = DispatchQueue(label: "realm.sync.callbacks")
  private static let place = Mutex(Place.unknown([]))
  /// The time in seconds after which a main queue that has run nothing counts as not served. If it runs something later, it
  /// counts as served from then on.
  private static let patience = 2
  private static let probe: Void = {
    DispatchQueue.main.async { decide(isMain: true) }
    other.asyncAfter(deadline: .now() + .seconds(patience)) { decide(isMain: false) }
  }()

  /// Starts to find out whether the program serves its main queue.
  static func begin() { probe }

  private static func decide(isMain: Bool) {
    place.withLock { place in
      if case .main = place { return }
      if case .unknown(let waiting) = place {
        for body in waiting { (isMain ? DispatchQueue.main : other).async(execute: body) }
      }
      place = isMain ? .main : .other
    }
  }

  static func deliver(_ body: @escaping @Sendable () -> Void) {
    begin()
    place.withLock { place in
      switch place {
      case .unknown(let waiting): place = .unknown(waiting + [body])
      case .main: DispatchQueue.main.async(execute: body)
      case .other: other.async(execute: body)
      }
    }
  }
}
