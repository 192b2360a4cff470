import RealmStorage

/// What the engine does with its cells too: nothing of it would be inlined here.
extension TextCell {
  @inline(__always)
  var isShort: Bool { high != 0 }

  @inline(__always)
  var isNull: Bool { high == 0 && low == .max }

  /// The text, which is short.
  @inline(__always)
  var text: String {
    var words = self
    // Moved out, as a copy would be counted by a call.
    return withUnsafeMutableBytes(of: &words) { $0.bindMemory(to: String.self).moveElement(from: 0) }
  }
}
