extension SyncSession {
  /// Whether a session connects. The numbers are stable.
  public enum State: UInt, Sendable {
    /// It is connected, or connects by itself.
    case active = 0
    /// It does not connect: the app has suspended it, the user is logged out, or it could not go on.
    case inactive = 1
    /// It is over.
    case invalid = 2
  }

  /// Whether a session has a connection with its server. The numbers are stable.
  public enum ConnectionState: UInt, Sendable {
    /// There is none. Another try may be awaited.
    case disconnected = 0
    /// It is being made.
    case connecting = 1
    /// There is one.
    case connected = 2
  }

  /// Which way changes go.
  public enum ProgressDirection: Sendable {
    /// From this device to the server.
    case upload
    /// From the server to this device.
    case download
  }

  /// For how long a block is told of progress.
  public enum ProgressMode: Sendable {
    /// Until its token is invalidated, or goes. New work is counted anew once all is done.
    case reportIndefinitely
    /// Until all is done that is to be done when the block is registered.
    case forCurrentlyOutstandingWork
  }

  /// Keeps a block that is told of progress, until the token is invalidated, or goes. At most one call may follow then.
  public typealias ProgressNotificationToken = NotificationToken

  /// How far a session is with what it uploads or downloads.
  public struct Progress: Sendable {
    /// The share that is done, from 0 to 1. It is 1 only when all is done: uploaded changes have been taken by the server,
    /// and what was downloaded can be read.
    public let progressEstimate: Double
    private let done: UInt64
    private let total: UInt64

    /// - Parameters:
    ///   - done: bytes that were transferred.
    ///   - total: bytes to transfer, with those that were.
    init(estimate: Double, done: UInt64, total: UInt64) {
      (progressEstimate, self.done, self.total) = (estimate, done, total)
    }

    /// Whether all is done.
    public var isTransferComplete: Bool { progressEstimate == 1 }

    /// Bytes that were transferred, about.
    @available(*, deprecated, message: "Use progressEstimate: figures of bytes are not exact.")
    public var transferredBytes: Int { Int(clamping: done) }
    /// Bytes to transfer, with those that were, about.
    @available(*, deprecated, message: "Use progressEstimate: figures of bytes are not exact.")
    public var transferrableBytes: Int { Int(clamping: total) }
    /// The same as `progressEstimate`.
    @available(*, deprecated, renamed: "progressEstimate")
    public var fractionTransferred: Double { progressEstimate }
  }
}
