/// The place of a part of a query in its text, in UTF-8 code units from the start of the text.
///
/// All ranges are equal to each other, so that the places of nodes do not make trees differ. Compare the bounds where the
/// place is what matters.
public struct SourceRange: Sendable, Equatable {
  /// The offset of the first code unit.
  public var lowerBound: Int
  /// The offset behind the last code unit.
  public var upperBound: Int

  /// Makes a range of these offsets.
  public init(_ lowerBound: Int, _ upperBound: Int) {
    self.lowerBound = lowerBound
    self.upperBound = upperBound
  }

  /// The range of what stands in no text.
  public static let none = SourceRange(0, 0)

  /// Always true.
  public static func == (left: SourceRange, right: SourceRange) -> Bool { true }

  /// From the start of this range to the end of the other.
  func to(_ end: SourceRange) -> SourceRange { SourceRange(lowerBound, max(upperBound, end.upperBound)) }
}
