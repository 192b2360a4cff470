import CPlatform

/// Makes instances of a model class, whose initializer `init()` is not `required`.
@usableFromInline
struct InstanceMaker: @unchecked Sendable {
  // Sendable: metadata and template live as long as the process and never change.
  private let metadata: ClassMetadata
  /// The bytes of an instance after its header; nil where only the class's own `init()` can make one.
  private let template: UnsafeRawBufferPointer?

  /// - Parameter fields: initializes every property of an instance with what owns no memory; nil where the class has
  ///   properties of which that can't be known.
  init(_ type: ObjectBase.Type, fields: ((FreshInstance) -> Void)?) {
    metadata = ClassMetadata(type)
    guard let fields else {
      template = nil
      return
    }
    // One for each class of the process, kept as the class itself is.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: metadata.instanceSize, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    fields(FreshInstance(memory.baseAddress!))
    template = UnsafeRawBufferPointer(rebasing: memory[Self.headerSize...])
  }

  private static let headerSize = 2 * MemoryLayout<Int>.size

  /// A copy of the template as an instance; nil where there is none.
  @inline(__always)
  func copied() -> ObjectBase? {
    guard let template,
      let memory = cp_allocate_object(metadata.address, metadata.instanceSize, metadata.alignmentMask)
    else { return nil }
    UnsafeMutableRawBufferPointer(start: memory + Self.headerSize, count: template.count)
      .copyMemory(from: template)
    return Unmanaged<ObjectBase>.fromOpaque(memory).takeRetainedValue()
  }

  /// What the header of an instance of a model class holds where it is referred to once, and by no weak or unowned
  /// reference: what the allocator leaves there.
  ///
  /// Where a runtime keeps counts in another way instances that are in use never have the same, and count as referred to.
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

  /// Of an instance of a model class.
  @inline(__always)
  static func counts(_ instance: UnsafeRawPointer) -> Int {
    instance.load(fromByteOffset: MemoryLayout<Int>.size, as: Int.self)
  }

  /// A handle as the element of a collection, of which only the collection knows that it is a class.
  ///
  /// - Precondition: `Element` is the object's class.
  @inlinable
  static func handle<Element>(_ object: ObjectBase, as type: Element.Type) -> Element {
    assert(object is Element, "\(Swift.type(of: object)) is no \(Element.self)")
    return unsafeBitCast(object, to: Element.self)
  }

  /// An instance as its class's `init()` leaves it.
  func initialized() -> ObjectBase {
    guard let slot = Self.slot, let object = metadata.initialized(slot: slot) as? ObjectBase else {
      preconditionFailure("this Swift runtime lays classes out in a way that is not known here")
    }
    return object
  }

  /// Where `init()` stands in the metadata of every model class; tried on one of our own first.
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

/// Memory laid out as an instance of a class, all zero.
struct FreshInstance {
  private let memory: UnsafeMutableRawPointer

  fileprivate init(_ memory: UnsafeMutableRawPointer) { self.memory = memory }

  /// - Precondition: the class has a stored property of this type at the offset.
  func initialize<Content>(_ content: Content, at offset: Int) {
    (memory + offset).initializeMemory(as: Content.self, to: content)
  }
}
