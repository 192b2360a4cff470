extension ClusterNode {
  /// Whether the descriptors have the right numbers of nulls, whether the values are in the bounds that scans rely on,
  /// and whether nanoseconds are in their range.
  func tellsBoundsRight() -> Bool {
    for index in 0..<columnCount {
      let descriptor = descriptor(index)
      guard !descriptor.encoding.hasRefs else { continue }
      var nulls = 0
      for row in 0..<rows {
        if isNull(descriptor, row) {
          nulls += 1
        } else if descriptor.encoding != .fixed, descriptor.column != Self.keyColumn {
          guard (descriptor.least...descriptor.greatest).contains(integer(descriptor, row)) else {
            return false
          }
        }
      }
      guard nulls == Int(descriptor.nullCount) else { return false }
      if descriptor.encoding == .nanoseconds {
        let range = Timestamp.nanosecondRange
        guard range.contains(descriptor.least), range.contains(descriptor.greatest) else { return false }
      }
    }
    return true
  }
}
