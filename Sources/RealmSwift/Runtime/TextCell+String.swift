import RealmStorage

/// The same accessors as the engine has for its cells: those would not be inlined in this module.
extension TextCell {
  @inline(__always)
  var isShort: Bool { high != 0 }

  @inline(__always)
  var isNull: Bool { high == 0 && low == .max }

  /// The text of a cell that is short.
  @inline(__always)
  var text: String {
    var words = self
    // The text is moved out, since a copy would be counted by a call.
    return withUnsafeMutableBytes(of: &words) { $0.bindMemory(to: String.self).moveElement(from: 0) }
  }
}
