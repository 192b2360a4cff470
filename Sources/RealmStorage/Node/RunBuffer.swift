/// The bytes of whole pages that a commit is about to write, with its nodes packed into them.
package final class RunBuffer {
  private let store: NodeStore
  /// The pages of all pieces, one after another.
  @exclusivity(unchecked) private var memory: Mapping?
  /// Where a node is made ready to be sealed.
  @exclusivity(unchecked) private var plain: UnsafeMutableRawBufferPointer?
  @exclusivity(unchecked) private var pieces: [Piece] = []
  /// A word for each page, in it a bit for each unit that a node covers.
  @exclusivity(unchecked) private var covered: [UInt64] = []
  /// The piece that a node was placed in last.
  private var lastPiece = 0

  private static let leastBytes = 64 << 10
  /// Memory kept from one run to the next.
  private static let keptBytes = 1 << 20

  /// Whether what is placed counts as verified.
  private let adopts: Bool

  private struct Piece {
    var pages: Range<Int>
    /// The first of them, counted from the start of the memory.
    var start: Int
  }

  package init(store: NodeStore, adopts: Bool) {
    self.store = store
    self.adopts = adopts
  }

  private static func memory(_ bytes: Int) -> Mapping {
    guard let memory = Mapping.anonymous(bytes) else {
      preconditionFailure("no range of addresses is left for \(bytes) bytes")
    }
    if bytes > keptBytes { memory.preferLargePages() }
    return memory
  }

  private var start: UnsafeMutableRawPointer {
    guard let memory else { preconditionFailure("a run has no memory before it is begun") }
    return memory.base
  }

  deinit {
    plain?.deallocate()
  }

  /// Starts a run that will stand in these pages.
  package func begin(_ ranges: [Range<Int>]) {
    pieces.removeAll(keepingCapacity: true)
    var count = 0
    for pages in ranges {
      pieces.append(Piece(pages: pages, start: count))
      count += pages.count
    }
    covered.removeAll(keepingCapacity: true)
    covered.append(contentsOf: repeatElement(0, count: count))
    lastPiece = 0
    let least = max(count * FilePlace.page, Self.leastBytes)
    let size = memory?.size ?? 0
    if size < least || size > max(least, Self.keptBytes) { memory = Self.memory(least) }
  }

  /// Puts a dirty node at `unit` of the file, as one of version `birth`; answers the ref that vouches for it there.
  ///
  /// The arena is left alone: others may be reading there.
  ///
  /// - Parameter link: names the node's children as they stand in the file.
  package func place(
    _ dirty: Ref, of arena: NodeArena, at unit: UInt64, birth: UInt64,
    _ link: (borrowing PlacedNode) -> Void = { _ in }
  ) -> Ref {
    let extent = store.extent(ofLength: dirty.length)
    let target = start + cover(unit, extent)
    let cipher = store.cipher
    let content = cipher == nil ? target : scratch()
    content.copyMemory(from: arena.start + Int(dirty.offset), byteCount: dirty.length)
    let identity = dirty.identity & ~Ref.maximumBirth | birth
    if identity != dirty.identity {
      content.storeBytes(of: identity.littleEndian, toByteOffset: NodeView.Layout.identity, as: UInt64.self)
    }
    link(PlacedNode(content, store.refWidth, borrowing: self))
    var ref = Ref(unit: unit, length: dirty.length, identity: identity, dirty: false)
    let bytes = UnsafeRawBufferPointer(start: content, count: dirty.length)
    if let cipher {
      (ref.check, ref.check2) = cipher.seal(bytes, unit: unit, birth: birth, into: target)
    } else {
      ref.check = bytes.bytes.checksum
    }
    if adopts { store.adopt(ref, content) }
    return ref
  }

  /// Notes the units of a node as covered, and fills the last of them up with zeros; answers where it stands in the memory.
  private func cover(_ unit: UInt64, _ extent: Int) -> Int {
    let (start, end) = place(of: unit)
    let units = (extent + Ref.unit - 1) / Ref.unit
    precondition(start + units * Ref.unit <= end, "a node outside of its run")
    var (first, rest) = (start / Ref.unit, units)
    while rest > 0 {
      let (word, bit) = (first / FilePlace.unitsPerPage, first % FilePlace.unitsPerPage)
      let part = min(rest, FilePlace.unitsPerPage - bit)
      covered[word] |= (~0 >> UInt64(FilePlace.unitsPerPage - part)) << UInt64(bit)
      first += part
      rest -= part
    }
    zero(start + extent..<start + units * Ref.unit)
    return start
  }

  /// And where its piece ends there.
  private func place(of unit: UInt64) -> (start: Int, end: Int) {
    let (page, rest) = Int(unit).quotientAndRemainder(dividingBy: FilePlace.unitsPerPage)
    if !pieces[lastPiece].pages.contains(page) {
      guard let piece = pieces.firstIndex(where: { $0.pages.contains(page) }) else {
        preconditionFailure("a node outside of its run")
      }
      lastPiece = piece
    }
    let piece = pieces[lastPiece]
    return (
      (piece.start + page - piece.pages.lowerBound) * FilePlace.page + rest * Ref.unit,
      (piece.start + piece.pages.count) * FilePlace.page
    )
  }

  private func zero(_ bytes: Range<Int>) {
    guard !bytes.isEmpty else { return }
    (start + bytes.lowerBound).initializeMemory(as: UInt8.self, repeating: 0, count: bytes.count)
  }

  private func scratch() -> UnsafeMutableRawPointer {
    let buffer = plain ?? .allocate(byteCount: Ref.maximumLength, alignment: 64)
    plain = buffer
    return buffer.baseAddress!
  }

  /// The pages of a piece, zero where no node stands.
  @_lifetime(borrow self)
  package func bytes(ofPiece index: Int) -> RawSpan {
    let pages = pieces[index].start..<pieces[index].start + pieces[index].pages.count
    for page in pages { zeroGaps(of: page) }
    return _overrideLifetime(
      RawSpan(
        _unsafeStart: start + pages.lowerBound * FilePlace.page,
        byteCount: pages.count * FilePlace.page), borrowing: self)
  }

  private func zeroGaps(of page: Int) {
    var gaps = ~covered[page]
    while gaps != 0 {
      let first = gaps.trailingZeroBitCount
      let count = (~(gaps >> UInt64(first))).trailingZeroBitCount
      let start = page * FilePlace.page + first * Ref.unit
      zero(start..<start + count * Ref.unit)
      gaps &= ~((~0 >> UInt64(FilePlace.unitsPerPage - count)) << UInt64(first))
    }
  }
}

/// A node that is being placed, whose refs do not name its children in the file yet.
package struct PlacedNode: ~Copyable, ~Escapable {
  private let content: UnsafeMutableRawPointer
  private let width: RefWidth

  @_lifetime(borrow run)
  fileprivate init(_ content: UnsafeMutableRawPointer, _ width: RefWidth, borrowing run: borrowing RunBuffer)
  {
    self.content = content
    self.width = width
  }

  /// Names a child, the one at `place` among its parent's refs, of which there are more.
  package func setRef(_ place: Int, to ref: Ref) {
    let at = content + NodeView.Layout.size + place * width.bytes
    at.storeBytes(of: ref.place.littleEndian, as: UInt64.self)
    at.storeBytes(of: ref.identity.littleEndian, toByteOffset: 8, as: UInt64.self)
    at.storeBytes(of: ref.check.littleEndian, toByteOffset: 16, as: UInt64.self)
    if width == .sealed { at.storeBytes(of: ref.check2.littleEndian, toByteOffset: 24, as: UInt64.self) }
  }
}
