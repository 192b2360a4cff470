/// Names a property of an object, in the property's own variable: by the address of the object and the position of the property.
///
/// The compiler's encoding of a class passes on the storage of each property without the object.
@usableFromInline
struct ObjectPlace {
  /// The address in the low 48 bits, which are enough for addresses of user space; the position above.
  @usableFromInline let bits: UInt64

  @inlinable static var addressBits: UInt64 { 48 }

  /// Nil if the address has more bits.
  init?(_ object: ObjectBase, _ position: Int) {
    let address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
    guard address >> Self.addressBits == 0, let position = UInt16(exactly: position) else { return nil }
    bits = address | UInt64(position) << Self.addressBits
  }

  @inlinable
  var position: Int { Int(bits >> Self.addressBits) }

  /// - Precondition: the object is there, as it is while its own properties are encoded.
  func object() -> ObjectBase? {
    UnsafeRawPointer(bitPattern: UInt(bits & (1 << Self.addressBits - 1)))
      .map { Unmanaged<ObjectBase>.fromOpaque($0).takeUnretainedValue() }
  }
}
