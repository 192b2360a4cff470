/// A property of the object whose variable this stands in: the object by its address, and the property's position.
///
/// An encoding that the compiler makes for a class hands on the storage of each property, without the object.
@usableFromInline
struct ObjectPlace {
  /// The address below, which user space keeps to 48 bits; the position above.
  @usableFromInline let bits: UInt64

  @inlinable static var addressBits: UInt64 { 48 }

  /// Nil where an address has more bits.
  init?(_ object: ObjectBase, _ position: Int) {
    let address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
    guard address >> Self.addressBits == 0, let position = UInt16(exactly: position) else { return nil }
    bits = address | UInt64(position) << Self.addressBits
  }

  @inlinable
  var position: Int { Int(bits >> Self.addressBits) }

  /// - Precondition: the object is there. It is while its own properties are encoded.
  func object() -> ObjectBase? {
    UnsafeRawPointer(bitPattern: UInt(bits & (1 << Self.addressBits - 1)))
      .map { Unmanaged<ObjectBase>.fromOpaque($0).takeUnretainedValue() }
  }
}
