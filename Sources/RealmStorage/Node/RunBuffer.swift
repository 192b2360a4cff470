/// The bytes of whole pages that a commit is about to write, with its nodes packed into them.
package final class RunBuffer {
  private var memory: UnsafeMutableRawBufferPointer
  private let store: NodeStore
  private var firstUnit: UInt64 = 0
  private var count = 0

  package init(store: NodeStore) {
    self.store = store
    memory = .allocate(byteCount: 64 * 1024, alignment: 4096)
  }

  deinit { memory.deallocate() }

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

  /// Puts a dirty node, whose refs are final, at `unit` of the file, and answers the ref that vouches for it there.
  package func place(_ dirty: Ref, of arena: NodeArena, at unit: UInt64) -> Ref {
    let start = Int(unit - firstUnit) * Ref.unit
    precondition(
      unit >= firstUnit && start + store.extent(ofLength: dirty.length) <= count, "a node outside of its run")
    let source = UnsafeRawBufferPointer(
      start: arena.memory.base + Int(dirty.offset), count: dirty.length)
    var ref = Ref(unit: unit, length: dirty.length, identity: dirty.identity, dirty: false)
    let target = memory.baseAddress! + start
    if let cipher = store.cipher {
      (ref.check, ref.check2) = cipher.seal(source, unit: unit, birth: dirty.birth, into: target)
    } else {
      target.copyMemory(from: source.baseAddress!, byteCount: source.count)
      ref.check = UnsafeRawBufferPointer(start: target, count: dirty.length).bytes.checksum
    }
    return ref
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
