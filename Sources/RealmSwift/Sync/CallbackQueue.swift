import Dispatch
import Synchronization

/// Calls what an app has registered with device sync: on the main queue, one after another.
///
/// A program without a main run loop never serves its main queue. There the calls are made on the queue `realm.sync.callbacks`.
enum CallbackQueue {
  private static let other = DispatchQueue(label: "realm.sync.callbacks")
  private static let mainIsServed = Atomic<Bool>(false)
  /// Waits in the main queue until that is served.
  private static let probe: Void = DispatchQueue.main.async {
    mainIsServed.store(true, ordering: .releasing)
  }

  /// Begins to look whether the main queue is served.
  static func begin() { probe }

  static func deliver(_ body: @escaping @Sendable () -> Void) {
    begin()
    let queue = mainIsServed.load(ordering: .acquiring) ? DispatchQueue.main : other
    queue.async(execute: body)
  }
}
