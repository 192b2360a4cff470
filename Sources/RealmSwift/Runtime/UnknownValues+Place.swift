/// An unmanaged object has no generation in which it was found: there it keeps what it has no values for.
extension UnknownValues {
  /// - Parameter place: the `birth` of an unmanaged object.
  static func kept(in place: UInt64) -> UnknownValues? {
    UnsafeRawPointer(bitPattern: UInt(place)).map {
      Unmanaged<UnknownValues>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// The place of one that is kept until it is released.
  var place: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passRetained(self).toOpaque())) }

  static func release(in place: UInt64) {
    guard let kept = UnsafeRawPointer(bitPattern: UInt(place)) else { return }
    Unmanaged<UnknownValues>.fromOpaque(kept).release()
  }
}
