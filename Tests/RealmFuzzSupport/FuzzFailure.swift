/// A decoder did something with an input that it must not do.
public struct FuzzFailure: Error, CustomStringConvertible {
  /// The way in which the decoder failed.
  public let description: String

  public init(_ description: String) { self.description = description }
}
