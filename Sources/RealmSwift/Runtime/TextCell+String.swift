import RealmStorage

/// These accessors are the same as those of the engine for its cells, which would not be inlined in this module.
extension TextCell {
  @inline(__always)
  var isShort: Bool { high != 0 }

  @inline(__always)
  var isNull: Bool { high == 0 && low == .max }

  /// The text of a short cell.
  @inline(__always)
  var text: String {
    var words = self
    // The text is moved out, because copying it would take a call that counts a reference.
    return withUnsafeMutableBytes(of: &words) { $0.bindMemory(to: String.self).moveElement(from: 0) }
  }
}
