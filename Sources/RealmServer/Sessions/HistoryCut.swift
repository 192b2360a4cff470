/// A removal of the oldest part of the history although files may need it, because the history had more bytes than it
/// may have.
public struct HistoryCut: Sendable, Equatable {
  /// The size of the history before the removal in bytes, about.
  public let bytes: UInt64
  /// The version behind which the history begins after the removal.
  public let horizon: UInt64
  /// The number of files that are reset when they connect again, unless they have got newer versions since their
  /// sessions began. They keep the changes that they have not sent.
  public let replicas: Int
}
