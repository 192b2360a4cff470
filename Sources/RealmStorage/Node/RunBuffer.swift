/// The bytes of whole pages that a commit is about to write, with its nodes packed into them.
///
/// If a run is large and filled in order, a window moves through its pages. The pages behind the window are written,
/// and their memory is used for the next pages. Some nodes at the end of the run are placed before their turn; the
/// pages of these nodes have memory of their own.
package final class RunBuffer {
  private let store: NodeStore
  /// The memory: the pages of the window, then all pages from `tail` on.
  @exclusivity(unchecked) private var memory: Mapping?
  /// The buffer in which a node is prepared for sealing.
  @exclusivity(unchecked) private var plain: UnsafeMutableRawBufferPointer?
  /// The buffer for a node whose pages are not adjacent in memory.
  @exclusivity(unchecked) private var whole: UnsafeMutableRawBufferPointer?
  /// The sealing of the run's nodes; nil for a plain file.
  @exclusivity(unchecked) private var sealing: NodeCipher.Sealing?
  @exclusivity(unchecked) private var pieces: [Piece] = []
  /// A word for each page of the run. It has a set bit for each unit that a node covers.
  @exclusivity(unchecked) private var covered: [UInt64] = []
  /// The index of the piece in which the last node was placed.
  private var lastPiece = 0
  /// Page numbers of the run, counted through all pieces: the first page in the window, and the first page behind all
  /// pages that the window passes (`tail`).
  private var windowStart = 0
  private var tail = 0
  private var windowPages = 0

  private static let leastBytes = 64 << 10
  /// The number of bytes of memory that is kept from one run to the next.
  private static let keptBytes = 1 << 20
  /// The number of bytes of the window. The longest node takes less.
  package static let windowBytes = 1 << 20

  /// True if the store takes the placed nodes as verified.
  private let adopts: Bool

  private struct Piece {
    var pages: Range<Int>
    /// The number of the first of these pages, counted through all pieces.
    var start: Int
  }

  /// A function that takes bytes for an offset in the file.
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

  /// Starts a run that will be written to these pages.
  ///
  /// - Parameter inOrderBefore: The nodes before this unit of the file will be placed in their order, each when there
  ///   is room for it (`makeRoom`). If it is nil, nodes are placed in any order.
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

  /// True if a window moves through the run.
  package var isLarge: Bool { tail > 0 }

  /// Moves the window if a node of a length does not fit into it. The pages that the window leaves go to `sink`.
  package func makeRoom(at unit: UInt64, _ length: Int, _ sink: Sink) throws(StorageError) {
    guard isLarge else { return }
    let start = place(of: unit).start
    let (first, last) = (
      start / FilePlace.page, (start + store.extent(ofLength: length) - 1) / FilePlace.page
    )
    guard first < tail, min(last, tail - 1) >= windowStart + windowPages else { return }
    try flush(windowStart..<first, sink)
    if start % FilePlace.page != 0 {
      // The node before it has begun this page.
      self.start.copyMemory(from: address(first * FilePlace.page), byteCount: FilePlace.page)
    }
    windowStart = first
  }

  /// Passes all remaining pages of the pieces to `sink`. The pages are zero in units without a node.
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

  /// The address in memory of a byte of the run.
  private func address(_ byte: Int) -> UnsafeMutableRawPointer {
    let page = byte / FilePlace.page
    if page >= tail { return start + byte + (windowPages - tail) * FilePlace.page }
    precondition(page >= windowStart && page < windowStart + windowPages, "a byte outside of the window")
    return start + byte - windowStart * FilePlace.page
  }

  /// Puts a dirty node at `unit` of the file, as a node of version `birth`. Returns the ref that vouches for it there.
  ///
  /// The arena does not change, because other threads may be reading there.
  ///
  /// - Parameter link: Sets the refs of the node's children to their places in the file.
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
    // The rest of the last unit is zero.
    (target + extent).initializeMemory(as: UInt8.self, repeating: 0, count: bytes.count - extent)
    if isSplit {
      let first = border - bytes.lowerBound
      address(bytes.lowerBound).copyMemory(from: target, byteCount: first)
      address(border).copyMemory(from: target + first, byteCount: bytes.count - first)
    }
    return ref
  }

  /// Marks the units of a node as covered. Returns the range of their bytes in the run.
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

  /// The offset of a unit in the run, and the offset at which its piece ends.
  private func place(of unit: UInt64) -> (start: Int, end: Int) {
    let (page, rest) = Int(unit).quotientAndRemainder(dividingBy: FilePlace.unitsPerPage)
    if !pieces[lastPiece].pages.contains(page) {
      // Usually it is the next piece.
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

/// A node that is being placed. Its refs do not name its children in the file yet.
package struct PlacedNode: ~Copyable, ~Escapable {
  private let content: UnsafeMutableRawPointer
  private let width: RefWidth

  @_lifetime(borrow run)
  fileprivate init(_ content: UnsafeMutableRawPointer, _ width: RefWidth, borrowing run: borrowing RunBuffer)
  {
    self.content = content
    self.width = width
  }

  /// Sets the ref at the index `place`.
  ///
  /// - Precondition: The node has more than `place` refs.
  package func setRef(_ place: Int, to ref: Ref) {
    let at = content + NodeView.Layout.size + place * width.bytes
    at.storeBytes(of: ref.place.littleEndian, as: UInt64.self)
    at.storeBytes(of: ref.identity.littleEndian, toByteOffset: 8, as: UInt64.self)
    at.storeBytes(of: ref.check.littleEndian, toByteOffset: 16, as: UInt64.self)
    if width == .sealed { at.storeBytes(of: ref.check2.littleEndian, toByteOffset: 24, as: UInt64.self) }
  }
}
