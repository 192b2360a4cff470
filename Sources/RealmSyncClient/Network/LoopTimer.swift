#if Sync
  import NIOCore

  /// One thing that is to be done later. It is used on one event loop.
  struct LoopTimer {
    private var scheduled: Scheduled<Void>?

    /// Does something after a time, in place of what was to be done before.
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
    /// A time that others have chosen; nil for 0, which stands for any time.
    static func limit(_ milliseconds: UInt64) -> TimeAmount? {
      // What is more than a year is as good as a year, and can be added to the time of day.
      milliseconds == 0 ? nil : .milliseconds(Int64(min(milliseconds, 1 << 35)))
    }
  }
#endif
