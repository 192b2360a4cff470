/// The place of a part of a query in its text, in UTF-8 code units from the start of the text.
///
/// All ranges are equal to one another, so that trees are compared without the places of their nodes. Compare the
/// bounds if the place matters.
public struct SourceRange: Sendable, Equatable {
  /// The offset of the first code unit.
  public var lowerBound: Int
  /// The offset after the last code unit.
  public var upperBound: Int

  /// Makes a range of these offsets.
  public init(_ lowerBound: Int, _ upperBound: Int) {
    self.lowerBound = lowerBound
    self.upperBound = upperBound
  }

  /// The range of a part that is in no text.
  public static let none = SourceRange(0, 0)

  /// Always true.
  public static func == (left: SourceRange, right: SourceRange) -> Bool { true }

  /// The range from the start of this range to the end of another one.
  func to(_ end: SourceRange) -> SourceRange { SourceRange(lowerBound, max(upperBound, end.upperBound)) }
}
