/// A decoder did with an input what it must not do.
public struct FuzzFailure: Error, CustomStringConvertible {
  /// What it did.
  public let description: String

  public init(_ description: String) { self.description = description }
}
