#if Sync
  import NIOCore

  /// When the other side of a WebSocket has last shown that it is there.
  struct SocketLife {
    /// nil: no pings are sent.
    private let period: TimeAmount?
    /// nil: a pong may come at any time.
    private let patience: TimeAmount?
    var pingTimer = LoopTimer()
    var pongTimer = LoopTimer()
    /// A ping was written, and the system has not taken it.
    var isPingWaiting = false
    /// The answer to a ping was written, and the system has not taken it.
    var isPongWaiting = false
    /// What the next answer repeats.
    var nextPong: [UInt8]?
    /// A ping was written whose answer has not come.
    private(set) var expectsPong = false
    /// Bytes of all frames that were written.
    private var written = 0
    /// The most bytes that had been taken of them whenever that was looked at, about.
    private var taken = 0
    private var lastSign = NIODeadline.now()

    init(_ request: SocketRequest) {
      period = TimeAmount.limit(request.pingPeriod)
      patience = TimeAmount.limit(request.pongTimeout)
    }

    // MARK: - Times

    /// The time up to the first ping. It is a random one, so that clients that connect at the same time do not send their pings
    /// at the same times, too.
    var firstPing: TimeAmount? {
      guard let period else { return nil }
      return .nanoseconds(Int64.random(in: 0...period.nanoseconds))
    }

    /// The time between two pings.
    var nextPing: TimeAmount? {
      guard let period else { return nil }
      return .nanoseconds(period.nanoseconds - Int64.random(in: 0...(period.nanoseconds / 5)))
    }

    /// The time until a pong is missing.
    var pongWait: TimeAmount? {
      guard let patience else { return nil }
      return max(lastSign + patience - NIODeadline.now(), .nanoseconds(0))
    }

    /// A pong is missing.
    var isSilent: Bool {
      guard let patience else { return false }
      return NIODeadline.now() - lastSign >= patience
    }

    // MARK: - Signs of life

    /// A ping is written.
    ///
    /// - Returns: it is the first of those that have no answer, so that the time for it begins.
    mutating func expectPong() -> Bool {
      guard !expectsPong else { return false }
      expectsPong = true
      lastSign = .now()
      return true
    }

    mutating func notePong() {
      expectsPong = false
      pongTimer.cancel()
    }

    /// Bytes have come, or are expected from now on. A pong may have to wait behind a long message.
    mutating func noteSign() { lastSign = .now() }

    mutating func noteWritten(_ count: Int) { written += count }

    /// Looks at what the other side has taken, behind which a ping may have to wait.
    ///
    /// - Parameter count: bytes that wait in the channel. With TLS they are a little more than was written.
    mutating func noteBuffered(_ count: Int) {
      guard written - count > taken else { return }
      taken = written - count
      // Where nothing waits, the ping is with the system.
      if count > 0 { lastSign = .now() }
    }

    mutating func stop() {
      pingTimer.cancel()
      pongTimer.cancel()
    }
  }
#endif
