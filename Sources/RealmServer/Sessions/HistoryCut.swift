/// The history had more bytes than it may have: the oldest part of it was forgotten although files may need it.
public struct HistoryCut: Sendable, Equatable {
  /// Bytes of the history before, about.
  public let bytes: UInt64
  /// The history begins behind this version from then on.
  public let horizon: UInt64
  /// Files that are reset when they connect again, where they have not got on since their sessions began. They keep what they have not sent.
  public let replicas: Int
}
