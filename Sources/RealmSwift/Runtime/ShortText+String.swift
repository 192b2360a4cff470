import RealmStorage

extension ShortText {
  /// The same as a String. The engine has its own, as nothing of it would be inlined here.
  @inline(__always)
  var text: String {
    var words = self
    // Moved out, as a copy would be counted by a call.
    return withUnsafeMutableBytes(of: &words) { $0.assumingMemoryBound(to: String.self).moveElement(from: 0) }
  }
}
