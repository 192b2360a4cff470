import Dispatch
import Synchronization

/// Calls what an app has registered with device sync: on the main queue, one after another.
///
/// A program without a main run loop never serves its main queue. There the calls are made on the queue `realm.sync.callbacks`.
enum CallbackQueue {
  private enum Place {
    /// It is not known yet whether the main queue is served. The calls wait for that.
    case unknown([@Sendable () -> Void])
    case main
    case other
  }
  private static let other = DispatchQueue(label: "realm.sync.callbacks")
  private static let place = Mutex(Place.unknown([]))
  /// A main queue that has served nothing for so many seconds is taken for one that is not served. What it serves later shows that it is.
  private static let patience = 2
  private static let probe: Void = {
    DispatchQueue.main.async { decide(isMain: true) }
    other.asyncAfter(deadline: .now() + .seconds(patience)) { decide(isMain: false) }
  }()

  /// Begins to look whether the main queue is served.
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
