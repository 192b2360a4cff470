import NIOCore

/// The one deadline that a connection waits for. It is used on the event loop of the connection only.
struct Deadline {
  private var scheduled: Scheduled<Void>?

  /// Does work after a time, in place of the work that was scheduled before.
  mutating func set(_ time: Duration, on eventLoop: any EventLoop, _ work: @escaping () -> Void) {
    scheduled?.cancel()
    scheduled = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { work() }
  }

  mutating func cancel() {
    scheduled?.cancel()
    scheduled = nil
  }
}
