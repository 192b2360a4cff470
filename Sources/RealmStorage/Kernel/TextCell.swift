/// A row's text: two words as a String has them that keeps the text in itself, which so is neither made nor destroyed when it is
/// copied; or where it stands among longer ones, or null.
package struct TextCell: BitwiseCopyable, Equatable {
  /// Of a text that is long, its place; of null, all bits.
  package let low: UInt64
  /// 0 of a text that is long, and of null; of a short one the highest byte tells its length, and is never 0.
  package let high: UInt64

  @inline(__always)
  init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

  /// A text that is long.
  init(place: Int) { self.init(low: UInt64(place), high: 0) }

  static var null: TextCell { TextCell(low: .max, high: 0) }

  /// The text, which is short.
  @inline(__always)
  var string: String {
    var words = self
    // Moved out, as a copy would be counted by a call.
    return withUnsafeMutableBytes(of: &words) { $0.bindMemory(to: String.self).moveElement(from: 0) }
  }
}
