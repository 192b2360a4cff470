/// The bytes of whole pages that a commit is about to write, with its nodes packed into them.
package final class RunBuffer {
  private var memory: UnsafeMutableRawBufferPointer
  private let store: NodeStore
  /// Where a node is made ready to be sealed.
  private var plain: UnsafeMutableRawBufferPointer?
  private var firstUnit: UInt64 = 0
  private var count = 0

  /// Whether what is placed counts as verified.
  private let adopts: Bool

  package init(store: NodeStore, adopts: Bool) {
    self.store = store
    self.adopts = adopts
    memory = .allocate(byteCount: 64 * 1024, alignment: 4096)
  }

  deinit {
    memory.deallocate()
    plain?.deallocate()
  }

  /// Starts a run of `pages` pages that will stand at `page`.
  package func begin(page: Int, pages: Int) {
    count = pages * FilePlace.page
    if memory.count < count {
      memory.deallocate()
      memory = .allocate(byteCount: count, alignment: 4096)
    }
    memory.baseAddress!.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    firstUnit = UInt64(page * FilePlace.unitsPerPage)
  }

  /// Puts a dirty node at `unit` of the file, as one of version `birth` and with final refs of its children; answers the
  /// ref that vouches for it there.
  ///
  /// The arena is left alone: others may be reading there.
  package func place(
    _ dirty: Ref, of arena: NodeArena, at unit: UInt64, birth: UInt64, children: ArraySlice<PlacedChild> = []
  ) -> Ref {
    let start = Int(unit - firstUnit) * Ref.unit
    precondition(
      unit >= firstUnit && start + store.extent(ofLength: dirty.length) <= count, "a node outside of its run")
    let source = UnsafeRawBufferPointer(
      start: arena.memory.base + Int(dirty.offset), count: dirty.length)
    let identity = dirty.identity & ~Ref.maximumBirth | birth
    var ref = Ref(unit: unit, length: dirty.length, identity: identity, dirty: false)
    let target = memory.baseAddress! + start
    let content = store.cipher == nil ? target : scratch()
    content.copyMemory(from: source.baseAddress!, byteCount: source.count)
    if identity != dirty.identity {
      content.storeBytes(of: identity.littleEndian, toByteOffset: NodeView.Layout.identity, as: UInt64.self)
    }
    for child in children { child.store(in: content, store.refWidth) }
    let bytes = UnsafeRawBufferPointer(start: content, count: dirty.length)
    if let cipher = store.cipher {
      (ref.check, ref.check2) = cipher.seal(bytes, unit: unit, birth: birth, into: target)
    } else {
      ref.check = bytes.bytes.checksum
    }
    if adopts { store.adopt(ref, content) }
    return ref
  }

  private func scratch() -> UnsafeMutableRawPointer {
    let buffer = plain ?? .allocate(byteCount: Ref.maximumLength, alignment: 64)
    plain = buffer
    return buffer.baseAddress!
  }

  /// The pages `range` of the run, counted from its start.
  @_lifetime(borrow self)
  package func bytes(pages range: Range<Int>) -> RawSpan {
    let bytes = range.lowerBound * FilePlace.page..<range.upperBound * FilePlace.page
    precondition(bytes.lowerBound >= 0 && bytes.upperBound <= count, "pages outside of the run")
    return _overrideLifetime(
      RawSpan(_unsafeStart: memory.baseAddress! + bytes.lowerBound, byteCount: bytes.count), borrowing: self)
  }
}

/// A child of a node that is being placed, and what names it in the file.
package struct PlacedChild {
  /// Which of its parent's refs it is.
  let place: Int
  let ref: Ref

  fileprivate func store(in node: UnsafeMutableRawPointer, _ width: RefWidth) {
    let at = node + NodeView.Layout.size + place * width.bytes
    at.storeBytes(of: ref.place.littleEndian, as: UInt64.self)
    at.storeBytes(of: ref.identity.littleEndian, toByteOffset: 8, as: UInt64.self)
    at.storeBytes(of: ref.check.littleEndian, toByteOffset: 16, as: UInt64.self)
    if width == .sealed { at.storeBytes(of: ref.check2.littleEndian, toByteOffset: 24, as: UInt64.self) }
  }
}
