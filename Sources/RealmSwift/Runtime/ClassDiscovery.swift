import CRealmPlatform

/// Finds classes without a registration, because each image of the process lists its types.
enum ClassDiscovery {
  /// The classes that inherit from `base`, directly or not, and are not generic themselves. Private and nested classes
  /// are found as well. The search takes well under a millisecond.
  static func subclasses(of base: AnyClass) -> [AnyClass] {
    guard let ancestor = ClassDescriptor(of: base) else { return [] }
    let found = Found(ancestor)
    cp_for_each_type(
      { descriptor, context in
        guard let descriptor, let context else { return }
        Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().visit(descriptor)
      }, Unmanaged.passUnretained(found).toOpaque())
    return withExtendedLifetime(found) { found.classes.compactMap(\.type) }
  }

  private final class Found {
    let ancestor: ClassDescriptor
    var classes: [ClassDescriptor] = []

    init(_ ancestor: ClassDescriptor) { self.ancestor = ancestor }

    func visit(_ address: UnsafeRawPointer) {
      guard let descriptor = ClassDescriptor(address), !descriptor.isGeneric else { return }
      if descriptor.isSubclass(of: ancestor) { classes.append(descriptor) }
    }
  }
}
