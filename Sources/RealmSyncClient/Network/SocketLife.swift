#if Sync
  import NIOCore

  /// Tells when the other side of a WebSocket has last given a sign of life.
  struct SocketLife {
    /// The time between pings; nil if no pings are sent.
    private let period: TimeAmount?
    /// The time that a pong may take; nil for any time.
    private let patience: TimeAmount?
    var pingTimer = LoopTimer()
    var pongTimer = LoopTimer()
    /// True if a ping was written that the system has not taken yet.
    var isPingWaiting = false
    /// True if the answer to a ping was written and the system has not taken it yet.
    var isPongWaiting = false
    /// The payload of the ping that is answered next.
    var nextPong: [UInt8]?
    /// True if a ping was written whose pong has not arrived.
    private(set) var expectsPong = false
    /// The bytes of all frames that were written.
    private var written = 0
    /// The approximate number of these bytes that the system had taken when that was looked at last.
    private var taken = 0
    private var lastSign = NIODeadline.now()

    init(_ request: SocketRequest) {
      period = TimeAmount.limit(request.pingPeriod)
      patience = TimeAmount.limit(request.pongTimeout)
    }

    // MARK: - Times

    /// The time to the first ping. It is random, so that clients that connect at the same time do not send their pings
    /// at the same times.
    var firstPing: TimeAmount? {
      guard let period else { return nil }
      return .nanoseconds(Int64.random(in: 0...period.nanoseconds))
    }

    /// The time to the next ping.
    var nextPing: TimeAmount? {
      guard let period else { return nil }
      return .nanoseconds(period.nanoseconds - Int64.random(in: 0...(period.nanoseconds / 5)))
    }

    /// The time until a missing pong means that the connection is lost.
    var pongWait: TimeAmount? {
      guard let patience else { return nil }
      return max(lastSign + patience - NIODeadline.now(), .nanoseconds(0))
    }

    /// True if a pong is missing.
    var isSilent: Bool {
      guard let patience else { return false }
      return NIODeadline.now() - lastSign >= patience
    }

    // MARK: - Signs of life

    /// Notes that a ping is written.
    ///
    /// - Returns: true if it is the first of the pings without a pong, so that the time for the pong begins.
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

    /// Notes that bytes have arrived, or are expected from now on. A pong may have to wait behind a long message.
    mutating func noteSign() { lastSign = .now() }

    mutating func noteWritten(_ count: Int) { written += count }

    /// Notes how much the other side has taken. A ping may have to wait behind the rest.
    ///
    /// - Parameter count: the bytes that wait in the channel. With TLS these are a little more than the bytes that were
    ///   written.
    mutating func noteBuffered(_ count: Int) {
      guard written - count > taken else { return }
      taken = written - count
      // If nothing waits, the system has the ping.
      if count > 0 { lastSign = .now() }
    }

    mutating func stop() {
      pingTimer.cancel()
      pongTimer.cancel()
    }
  }
#endif
