/// Names a property of an object by the address of the object and the position of the property. The storage of the
/// property itself holds it.
///
/// It is needed because the encoding that the compiler makes for a class passes on the storage of each property without
/// the object.
@usableFromInline
struct ObjectPlace {
  /// The address in the low 48 bits, which are enough for addresses of user space, and the position in the bits above.
  @usableFromInline let bits: UInt64

  @inlinable static var addressBits: UInt64 { 48 }

  /// Returns nil if the address does not fit 48 bits, or the position does not fit 16 bits.
  init?(_ object: ObjectBase, _ position: Int) {
    let address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
    guard address >> Self.addressBits == 0, let position = UInt16(exactly: position) else { return nil }
    bits = address | UInt64(position) << Self.addressBits
  }

  @inlinable
  var position: Int { Int(bits >> Self.addressBits) }

  /// - Precondition: the object exists, as it does while its own properties are encoded.
  func object() -> ObjectBase? {
    UnsafeRawPointer(bitPattern: UInt(bits & (1 << Self.addressBits - 1)))
      .map { Unmanaged<ObjectBase>.fromOpaque($0).takeUnretainedValue() }
  }
}
