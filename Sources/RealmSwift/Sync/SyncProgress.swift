extension SyncSession {
  /// Whether a session connects to the server. The numbers are stable.
  public enum State: UInt, Sendable {
    /// The session is connected, or tries to connect.
    case active = 0
    /// The session does not connect, because the app has suspended it, the user is logged out, or an error has ended it.
    case inactive = 1
    /// The session is over, because its file is closed.
    case invalid = 2
  }

  /// Whether a session has a connection to its server. The numbers are stable.
  public enum ConnectionState: UInt, Sendable {
    /// There is no connection. The session may be waiting for its next try.
    case disconnected = 0
    /// A connection is being made.
    case connecting = 1
    /// There is a connection.
    case connected = 2
  }

  /// The direction of transferred changes.
  public enum ProgressDirection: Sendable {
    /// Uploads: from this device to the server.
    case upload
    /// Downloads: from the server to this device.
    case download
  }

  /// For how long a block is called with progress.
  public enum ProgressMode: Sendable {
    /// The block is called until its token is invalidated or released. When all was done and new work comes, the share starts at
    /// 0 again.
    case reportIndefinitely
    /// The block is called until all work is done that there is when the block is registered.
    case forCurrentlyOutstandingWork
  }

  /// A token that keeps a progress block registered until the token is invalidated or released. At most one call may follow after
  /// that.
  public typealias ProgressNotificationToken = NotificationToken

  /// The progress of a session's uploads or downloads.
  public struct Progress: Sendable {
    /// The share of the work that is done, from 0 to 1. It is 1 only when all is done: the server has accepted the uploaded
    /// changes, or the downloaded changes can be read.
    public let progressEstimate: Double
    private let done: UInt64
    private let total: UInt64

    /// - Parameters:
    ///   - done: the number of transferred bytes.
    ///   - total: the number of bytes to transfer, including the transferred ones.
    init(estimate: Double, done: UInt64, total: UInt64) {
      (progressEstimate, self.done, self.total) = (estimate, done, total)
    }

    /// Whether all work is done: `progressEstimate` is 1.
    public var isTransferComplete: Bool { progressEstimate == 1 }

    /// The approximate number of transferred bytes.
    @available(*, deprecated, message: "Use progressEstimate: figures of bytes are not exact.")
    public var transferredBytes: Int { Int(clamping: done) }
    /// The approximate number of bytes to transfer, including the transferred ones.
    @available(*, deprecated, message: "Use progressEstimate: figures of bytes are not exact.")
    public var transferrableBytes: Int { Int(clamping: total) }
    /// The same as `progressEstimate`.
    @available(*, deprecated, renamed: "progressEstimate")
    public var fractionTransferred: Double { progressEstimate }
  }
}
