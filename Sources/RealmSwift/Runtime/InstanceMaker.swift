import CRealmPlatform

/// Makes instances of a model class. Its `init()` is not `required`, so Swift itself can't call it.
@usableFromInline
struct InstanceMaker: @unchecked Sendable {
  // Sendable: metadata and template live as long as the process and never change.
  private let metadata: ClassMetadata
  /// The bytes of an instance after its header; nil if only the class's own `init()` can make one.
  private let template: UnsafeRawBufferPointer?

  /// - Parameter fields: initializes every property of an instance with a value that owns no memory; nil if the class has
  ///   properties for which there is no such value.
  init(_ type: ObjectBase.Type, fields: ((FreshInstance) -> Void)?) {
    metadata = ClassMetadata(type)
    guard let fields else {
      template = nil
      return
    }
    // There is one template for each class of the process. Like the class, it is never freed.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: metadata.instanceSize, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    fields(FreshInstance(memory.baseAddress!))
    template = UnsafeRawBufferPointer(rebasing: memory[Self.headerSize...])
  }

  private static let headerSize = 2 * MemoryLayout<Int>.size

  /// Makes an instance as a copy of the template; nil if there is none.
  @inline(__always)
  func copied() -> ObjectBase? {
    guard let template,
      let memory = cp_allocate_object(metadata.address, metadata.instanceSize, metadata.alignmentMask)
    else { return nil }
    UnsafeMutableRawBufferPointer(start: memory + Self.headerSize, count: template.count)
      .copyMemory(from: template)
    return Unmanaged<ObjectBase>.fromOpaque(memory).takeRetainedValue()
  }

  /// The value of the header's word with the reference counts, for an instance of a model class that has one reference
  /// and no weak or unowned one. The allocator writes this value.
  ///
  /// If a runtime keeps the counts in another way, no instance in use has this value, so each counts as referred to by
  /// others.
  static let newCounts: Int = {
    let metadata = ClassMetadata(ObjectBase.self)
    guard let memory = cp_allocate_object(metadata.address, metadata.instanceSize, metadata.alignmentMask)
    else { return 0 }
    let counts = Self.counts(memory)
    UnsafeMutableRawBufferPointer(
      start: memory + headerSize, count: metadata.instanceSize - headerSize
    ).initializeMemory(as: UInt8.self, repeating: 0)
    Unmanaged<ObjectBase>.fromOpaque(memory).release()
    return counts
  }()

  /// The word with the reference counts of an instance of a model class.
  @inline(__always)
  static func counts(_ instance: UnsafeRawPointer) -> Int {
    instance.load(fromByteOffset: MemoryLayout<Int>.size, as: Int.self)
  }

  /// Returns a handle as the element of a collection. The compiler does not know there that the element is a class.
  ///
  /// - Precondition: `Element` is the object's class.
  @inlinable
  static func handle<Element>(_ object: ObjectBase, as type: Element.Type) -> Element {
    assert(object is Element, "\(Swift.type(of: object)) is no \(Element.self)")
    return unsafeBitCast(object, to: Element.self)
  }

  /// Makes an instance by calling `init()` of its class.
  func initialized() -> ObjectBase {
    guard let slot = Self.slot, let object = metadata.initialized(slot: slot) as? ObjectBase else {
      preconditionFailure("this Swift runtime lays classes out in a way that is not known here")
    }
    return object
  }

  /// The offset of the entry of `init()` in the metadata of every model class. The offset is tested with a class of
  /// this library first.
  private static let slot: Int? = {
    guard let slot = ClassDescriptor(of: ObjectBase.self)?.initializerSlot,
      let probe = ClassMetadata(Probe.self).initialized(slot: slot) as? Probe, probe.mark == Probe.expected
    else { return nil }
    return slot
  }()

  private final class Probe: ObjectBase {
    static let expected = 0x5EA1
    let mark: Int

    override init() {
      mark = Probe.expected
      super.init()
    }
  }
}

/// Memory with the layout of an instance of a class, filled with zeros.
struct FreshInstance {
  private let memory: UnsafeMutableRawPointer

  fileprivate init(_ memory: UnsafeMutableRawPointer) { self.memory = memory }

  /// - Precondition: the class has a stored property of this type at the offset.
  func initialize<Content>(_ content: Content, at offset: Int) {
    (memory + offset).initializeMemory(as: Content.self, to: content)
  }
}
