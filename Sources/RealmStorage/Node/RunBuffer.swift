/// The bytes of whole pages that a commit is about to write, with its nodes packed into them.
///
/// Of a large run that is filled in its order, a window moves through the pages: those behind it are written, and their
/// memory takes the next ones. The pages of nodes that stand at the end of the run, and are placed among the others, have
/// memory of their own.
package final class RunBuffer {
  private let store: NodeStore
  /// The pages of the window, then all from `tail` on.
  @exclusivity(unchecked) private var memory: Mapping?
  /// Where a node is made ready to be sealed.
  @exclusivity(unchecked) private var plain: UnsafeMutableRawBufferPointer?
  /// Where a node lies whose pages do not lie together.
  @exclusivity(unchecked) private var whole: UnsafeMutableRawBufferPointer?
  /// Of an encrypted file.
  @exclusivity(unchecked) private var sealing: NodeCipher.Sealing?
  @exclusivity(unchecked) private var pieces: [Piece] = []
  /// A word for each page of the run, in it a bit for each unit that a node covers.
  @exclusivity(unchecked) private var covered: [UInt64] = []
  /// The piece that a node was placed in last.
  private var lastPiece = 0
  /// Pages of the run, counted through all pieces: the first in the window, and the first behind all it will pass.
  private var windowStart = 0
  private var tail = 0
  private var windowPages = 0

  private static let leastBytes = 64 << 10
  /// Memory kept from one run to the next.
  private static let keptBytes = 1 << 20
  /// More than the longest node takes.
  package static let windowBytes = 1 << 20

  /// Whether what is placed counts as verified.
  private let adopts: Bool

  private struct Piece {
    var pages: Range<Int>
    /// The first of them, counted through all pieces.
    var start: Int
  }

  /// Takes bytes for a place in the file.
  package typealias Sink = (_ bytes: RawSpan, _ offset: UInt64) throws(StorageError) -> Void

  package init(store: NodeStore, adopts: Bool) {
    self.store = store
    self.adopts = adopts
    if store.cipher != nil { sealing = NodeCipher.Sealing() }
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
    whole?.deallocate()
  }

  /// Starts a run that will stand in these pages.
  ///
  /// - Parameter inOrderBefore: nodes that stand before this unit in the run will be placed in their order, each when there is
  ///   room for it (`makeRoom`); nil where nodes are placed in any order.
  package func begin(_ ranges: [Range<Int>], inOrderBefore unit: UInt64? = nil) {
    sealing?.end()
    pieces.removeAll(keepingCapacity: true)
    var count = 0
    for pages in ranges {
      pieces.append(Piece(pages: pages, start: count))
      count += pages.count
    }
    covered.removeAll(keepingCapacity: true)
    covered.append(contentsOf: repeatElement(0, count: count))
    (lastPiece, windowStart, tail, windowPages) = (0, 0, 0, 0)
    if let unit, count * FilePlace.page > Self.windowBytes {
      tail = unit == .max ? count : place(of: unit).start / FilePlace.page
      windowPages = Self.windowBytes / FilePlace.page
    }
    let least = max((windowPages + count - tail) * FilePlace.page, Self.leastBytes)
    let size = memory?.size ?? 0
    if size < least || size > max(least, Self.keptBytes) { memory = Self.memory(least) }
  }

  /// A window moves through the run.
  package var isLarge: Bool { tail > 0 }

  /// Moves the window on where a node of a length does not fit into it; what is passed goes to `sink`.
  package func makeRoom(at unit: UInt64, _ length: Int, _ sink: Sink) throws(StorageError) {
    guard isLarge else { return }
    let start = place(of: unit).start
    let (first, last) = (
      start / FilePlace.page, (start + store.extent(ofLength: length) - 1) / FilePlace.page
    )
    guard first < tail, min(last, tail - 1) >= windowStart + windowPages else { return }
    try flush(windowStart..<first, sink)
    if start % FilePlace.page != 0 {
      // The node before it has begun the page.
      self.start.copyMemory(from: address(first * FilePlace.page), byteCount: FilePlace.page)
    }
    windowStart = first
  }

  /// Hands out all that was not handed out yet: the pages of the pieces, zero where no node stands.
  package func finish(_ sink: Sink) throws(StorageError) {
    sealing?.end()
    try flush(windowStart..<tail, sink)
    try flush(tail..<covered.count, sink)
  }

  private func flush(_ pages: Range<Int>, _ sink: Sink) throws(StorageError) {
    for piece in pieces {
      let part = pages.clamped(to: piece.start..<piece.start + piece.pages.count)
      guard !part.isEmpty else { continue }
      for page in part { zeroGaps(of: page) }
      let bytes = UnsafeRawBufferPointer(
        start: address(part.lowerBound * FilePlace.page), count: part.count * FilePlace.page)
      let page = piece.pages.lowerBound + part.lowerBound - piece.start
      try sink(bytes.bytes, UInt64(page * FilePlace.page))
    }
  }

  /// Where a byte of the run lies in memory.
  private func address(_ byte: Int) -> UnsafeMutableRawPointer {
    let page = byte / FilePlace.page
    if page >= tail { return start + byte + (windowPages - tail) * FilePlace.page }
    precondition(page >= windowStart && page < windowStart + windowPages, "a byte outside of the window")
    return start + byte - windowStart * FilePlace.page
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
    let bytes = cover(unit, extent)
    let border = tail * FilePlace.page
    let isSplit = bytes.lowerBound < border && bytes.upperBound > border
    let target = isSplit ? Self.room(&whole) : address(bytes.lowerBound)
    let cipher = store.cipher
    let content = cipher == nil ? target : Self.room(&plain)
    content.copyMemory(from: arena.start + Int(dirty.offset), byteCount: dirty.length)
    let identity = dirty.identity & ~Ref.maximumBirth | birth
    if identity != dirty.identity {
      content.storeBytes(of: identity.littleEndian, toByteOffset: NodeView.Layout.identity, as: UInt64.self)
    }
    link(PlacedNode(content, store.refWidth, borrowing: self))
    var ref = Ref(unit: unit, length: dirty.length, identity: identity, dirty: false)
    let node = UnsafeRawBufferPointer(start: content, count: dirty.length)
    if let cipher, sealing != nil {
      (ref.check, ref.check2) = cipher.seal(node, unit: unit, birth: birth, &sealing!, into: target)
    } else {
      ref.check = node.bytes.checksum
    }
    if adopts { store.adopt(ref, content) }
    // What is left of the last unit is zero.
    (target + extent).initializeMemory(as: UInt8.self, repeating: 0, count: bytes.count - extent)
    if isSplit {
      let first = border - bytes.lowerBound
      address(bytes.lowerBound).copyMemory(from: target, byteCount: first)
      address(border).copyMemory(from: target + first, byteCount: bytes.count - first)
    }
    return ref
  }

  /// Notes the units of a node as covered; answers which bytes of the run they are.
  private func cover(_ unit: UInt64, _ extent: Int) -> Range<Int> {
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
    return start..<start + units * Ref.unit
  }

  /// Where a unit stands in the run, and where its piece ends there.
  private func place(of unit: UInt64) -> (start: Int, end: Int) {
    let (page, rest) = Int(unit).quotientAndRemainder(dividingBy: FilePlace.unitsPerPage)
    if !pieces[lastPiece].pages.contains(page) {
      // Most often the next one.
      let next = lastPiece + 1
      if next < pieces.count, pieces[next].pages.contains(page) {
        lastPiece = next
      } else if let piece = pieces.firstIndex(where: { $0.pages.contains(page) }) {
        lastPiece = piece
      } else {
        preconditionFailure("a node outside of its run")
      }
    }
    let piece = pieces[lastPiece]
    return (
      (piece.start + page - piece.pages.lowerBound) * FilePlace.page + rest * Ref.unit,
      (piece.start + piece.pages.count) * FilePlace.page
    )
  }

  private static func room(_ buffer: inout UnsafeMutableRawBufferPointer?) -> UnsafeMutableRawPointer {
    let made =
      buffer ?? .allocate(byteCount: Ref.maximumLength + NodeCipher.nonceLength + Ref.unit, alignment: 64)
    buffer = made
    return made.baseAddress!
  }

  private func zeroGaps(of page: Int) {
    var gaps = ~covered[page]
    while gaps != 0 {
      let first = gaps.trailingZeroBitCount
      let count = (~(gaps >> UInt64(first))).trailingZeroBitCount
      address(page * FilePlace.page + first * Ref.unit)
        .initializeMemory(as: UInt8.self, repeating: 0, count: count * Ref.unit)
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
