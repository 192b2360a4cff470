/// The text of a row in two words. For a short text these are the words of a `String` that keeps its text in itself, so
/// that no string is made or destroyed when the cell is copied. Other cells tell where a long text stands among other
/// long texts, or are null.
package struct TextCell: BitwiseCopyable, Equatable {
  /// The place of a long text; all bits for null; the lower word of a short text.
  package let low: UInt64
  /// 0 for a long text and for null. For a short text the highest byte tells its length, and is never 0.
  package let high: UInt64

  @inline(__always)
  init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

  /// Makes the cell of a long text.
  init(place: Int) { self.init(low: UInt64(place), high: 0) }

  static var null: TextCell { TextCell(low: .max, high: 0) }

  /// The text, which has to be short.
  @inline(__always)
  var string: String {
    var words = self
    // The string is moved out, because a copy would make a call that counts it.
    return withUnsafeMutableBytes(of: &words) { $0.bindMemory(to: String.self).moveElement(from: 0) }
  }
}
