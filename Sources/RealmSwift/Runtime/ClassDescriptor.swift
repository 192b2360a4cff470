import CRealmPlatform

/// What the compiler recorded about a class (Swift ABI: TypeMetadata.rst, "Class metadata" and "Type context descriptors").
struct ClassDescriptor {
  private let address: UnsafeRawPointer

  private enum Layout {
    static let flags = 0
    static let accessor = 12
    static let superclass = 20
    static let tableOffset = 44
    static let tableSize = 48
    static let methods = 52
    static let methodSize = 8
  }
  private enum Flag {
    static let kind: UInt32 = 0x1f
    static let classKind: UInt32 = 16
    static let isGeneric: UInt32 = 0x80
    static let hasTable: UInt32 = 1 << 31
    static let methodKind: UInt32 = 0xf
    static let initializer: UInt32 = 1
  }

  /// Returns nil if the descriptor is that of a type that is no class.
  init?(_ address: UnsafeRawPointer) {
    self.address = address
    guard flags & Flag.kind == Flag.classKind else { return nil }
  }

  init?(of type: AnyClass) { self.init(ClassMetadata(type).descriptor) }

  private var flags: UInt32 { address.load(fromByteOffset: Layout.flags, as: UInt32.self) }
  private func target(_ offset: Int) -> UnsafeRawPointer? {
    let distance = address.load(fromByteOffset: offset, as: Int32.self)
    return distance == 0 ? nil : address + offset + Int(distance)
  }

  var isGeneric: Bool { flags & Flag.isGeneric != 0 }

  /// The descriptor of the superclass; nil if that is no Swift class that a symbolic reference names (Swift ABI: Mangling.rst).
  var superclass: ClassDescriptor? {
    guard let name = target(Layout.superclass) else { return nil }
    let reference = name + 1
    let place = reference + Int(reference.loadUnaligned(as: Int32.self))
    switch name.load(as: UInt8.self) {
    case 1: return ClassDescriptor(place)
    case 2: return ClassDescriptor(place.load(as: UnsafeRawPointer.self))
    default: return nil
    }
  }

  func isSubclass(of ancestor: ClassDescriptor) -> Bool {
    var next = superclass
    while let found = next {
      if found.address == ancestor.address { return true }
      next = found.superclass
    }
    return false
  }

  /// The class itself; nil if it is generic.
  var type: AnyClass? {
    guard !isGeneric, let accessor = target(Layout.accessor), let metadata = cp_type_metadata(accessor) else {
      return nil
    }
    return unsafeBitCast(metadata, to: AnyClass.self)
  }

  /// The offset of the entry of the class's first initializer, in the metadata of the class and of all classes that inherit from
  /// it.
  var initializerSlot: Int? {
    guard flags & Flag.hasTable != 0, !isGeneric else { return nil }
    let first = Int(address.load(fromByteOffset: Layout.tableOffset, as: UInt32.self))
    let count = Int(address.load(fromByteOffset: Layout.tableSize, as: UInt32.self))
    for index in 0..<count {
      let method = address.load(fromByteOffset: Layout.methods + index * Layout.methodSize, as: UInt32.self)
      if method & Flag.methodKind == Flag.initializer { return (first + index) * MemoryLayout<Int>.size }
    }
    return nil
  }
}

/// A class in the form that the runtime uses.
struct ClassMetadata {
  let address: UnsafeRawPointer

  #if canImport(ObjectiveC)
    private enum Layout {
      static let instanceSize = 48
      static let alignmentMask = 52
      static let descriptor = 64
    }
  #else
    private enum Layout {
      static let instanceSize = 24
      static let alignmentMask = 28
      static let descriptor = 40
    }
  #endif

  init(_ type: AnyClass) { address = unsafeBitCast(type, to: UnsafeRawPointer.self) }

  var descriptor: UnsafeRawPointer {
    address.load(fromByteOffset: Layout.descriptor, as: UnsafeRawPointer.self)
  }
  var instanceSize: Int { Int(address.load(fromByteOffset: Layout.instanceSize, as: UInt32.self)) }
  var alignmentMask: Int { Int(address.load(fromByteOffset: Layout.alignmentMask, as: UInt16.self)) }

  /// Calls the allocating initializer whose entry is at the offset `slot`.
  func initialized(slot: Int) -> AnyObject? {
    let initializer = address.load(fromByteOffset: slot, as: UnsafeRawPointer.self)
    return cp_call_allocating_init(initializer, address)
      .map { Unmanaged<AnyObject>.fromOpaque($0).takeRetainedValue() }
  }
}
