/// An unmanaged object was not found in a generation, so it uses the field for that, `birth`, to keep the values that
/// it can't represent.
extension UnknownValues {
  /// - Parameter place: the `birth` of an unmanaged object.
  static func kept(in place: UInt64) -> UnknownValues? {
    UnsafeRawPointer(bitPattern: UInt(place)).map {
      Unmanaged<UnknownValues>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// The address of the values. Each call retains the values until they are released.
  var place: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passRetained(self).toOpaque())) }

  static func release(in place: UInt64) {
    guard let kept = UnsafeRawPointer(bitPattern: UInt(place)) else { return }
    Unmanaged<UnknownValues>.fromOpaque(kept).release()
  }
}
