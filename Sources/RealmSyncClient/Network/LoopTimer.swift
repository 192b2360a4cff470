#if Sync
  import NIOCore

  /// A timer for one task. It is used on one event loop.
  struct LoopTimer {
    private var scheduled: Scheduled<Void>?

    /// Runs a task after a time. A task that was set before is cancelled.
    mutating func set(_ time: TimeAmount, on eventLoop: any EventLoop, _ work: @escaping () -> Void) {
      scheduled?.cancel()
      scheduled = eventLoop.assumeIsolated().scheduleTask(in: time) { work() }
    }

    mutating func cancel() {
      scheduled?.cancel()
      scheduled = nil
    }
  }

  extension TimeAmount {
    /// A time in milliseconds that was given from outside; nil for 0, which stands for any time.
    static func limit(_ milliseconds: UInt64) -> TimeAmount? {
      // A longer time than about a year counts as that, so that it can be added to the time of day.
      milliseconds == 0 ? nil : .milliseconds(Int64(min(milliseconds, 1 << 35)))
    }
  }
#endif
