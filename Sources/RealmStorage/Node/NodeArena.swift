/// The nodes that a transaction has made and not yet written.
///
/// A dirty node is packed bytes like any other node. Its ref has a bit that says that the node is in memory, so readers
/// know only one form. A node is made whole; after that, only its refs and bytes of its body change in place. The space
/// of freed nodes is reused within the transaction: for nodes of the same size, or for any size if all nodes made since
/// a mark are free.
///
/// The nodes of committed transactions that are not written yet stay before those of the open transaction. They do not
/// change any more, because the writer reads them meanwhile.
package final class NodeArena {
  /// The address of the memory; nil before the first transaction.
  @exclusivity(unchecked) private(set) var base: UnsafeMutableRawPointer?
  @exclusivity(unchecked) private var memory: Mapping?
  /// The number of bytes of the memory: 0 at first, then the capacity.
  @exclusivity(unchecked) private var size = 0
  private let capacity: Int
  package let refWidth: RefWidth
  /// The version that the transaction will be.
  @exclusivity(unchecked) package private(set) var birth: UInt64 = 0
  /// The next unit that was never used. Unit 0 is never given, so that no dirty ref is null.
  private var nextUnit: UInt64 = 1
  /// The unit at which the nodes of the open transaction begin.
  private var ownStart: UInt64 = 1
  /// The units of freed nodes, by size. The array is empty before the first node is freed.
  @exclusivity(unchecked) private var freeUnits: [[UInt64]] = []
  /// The sizes of freed nodes, so that a new transaction need not look at all lists.
  @exclusivity(unchecked) private var freedSizes: [Int] = []
  /// The number of bytes of the nodes in the arena that were not freed.
  @exclusivity(unchecked) package private(set) var liveBytes = 0

  /// All nodes from this unit on were made since the mark. `unitsSinceMark` is the number of their units that are in
  /// use.
  private var markedUnit = UInt64.max
  private var unitsSinceMark = 0
  /// The nodes of the open transaction before this unit are held: they do not change, and their places are not given
  /// again.
  private var heldUnit: UInt64 = 0
  /// The holds that have not ended, in the order in which they began. The ends of their nodes increase.
  @exclusivity(unchecked) private var holds: [Hold] = []

  private struct Hold {
    let end: UInt64
    /// Nodes that were freed while they were held.
    var freed: [Ref] = []
    /// The places that were free before the hold, by size, and the sizes of which there are any.
    var places: [[UInt64]]
    var sizes: [Int]
  }

  /// The memory was touched up to this unit.
  private var touchedUnit: UInt64 = 1

  /// True if large pages were requested for the memory behind `keptBytes`. A transaction requests them when it first
  /// needs more.
  private var hasLargePages = false

  /// The number of bytes of memory that is kept from one transaction to the next.
  private static let keptBytes = 4 << 20
  private static let largePage = 2 << 20
  /// True if the nodes fill more than half of the memory that is kept.
  var isUsedUp: Bool { usedBytes > Self.keptBytes / 2 }

  /// The number of bytes of all nodes, with the room between them.
  package var usedBytes: Int { Int(nextUnit) * Ref.unit }

  package init(refWidth: RefWidth, capacity: Int) {
    self.refWidth = refWidth
    self.capacity = capacity
  }

  /// Forgets all nodes and starts the transaction that will be version `birth`.
  ///
  /// - Throws: `.system` if no range of addresses is left. The range is reserved at the first call, because a handle
  ///   that only reads needs none.
  package func reset(birth: UInt64) throws(StorageError) {
    let memory = try reserved()
    let used = Int(max(nextUnit, touchedUnit)) * Ref.unit
    if used > Self.keptBytes {
      // The range ends with the last large page, which is in memory as a whole.
      let end = (used + Self.largePage - 1) / Self.largePage * Self.largePage
      memory.discard(Self.keptBytes..<min(end, size))
    }
    (ownStart, nextUnit, touchedUnit) = (1, 1, 1)
    resume(birth: birth)
  }

  private func reserved() throws(StorageError) -> Mapping {
    if let memory { return memory }
    guard let memory = Mapping.anonymous(capacity) else {
      throw .system(call: .map, errno: 12, path: "memory", offset: nil)
    }
    (self.memory, base, size) = (memory, memory.base, memory.size)
    return memory
  }

  var start: UnsafeMutableRawPointer {
    guard let base else { preconditionFailure("an arena has no memory before its first transaction") }
    return base
  }

  /// Starts the transaction that will be version `birth`. The nodes of sealed transactions stay.
  package func resume(birth: UInt64) {
    forgetFreed()
    touchedUnit = max(touchedUnit, nextUnit)
    nextUnit = ownStart
    liveBytes = 0
    markedUnit = .max
    self.birth = birth
  }

  /// Seals the open transaction: its nodes do not change any more.
  package func seal() {
    forgetFreed()
    ownStart = nextUnit
  }

  private func forgetFreed() {
    (heldUnit, holds) = (0, [])
    for units in freedSizes { freeUnits[units].removeAll(keepingCapacity: true) }
    freedSizes.removeAll(keepingCapacity: true)
  }

  /// True if the node belongs to the open transaction.
  package func owns(_ ref: Ref) -> Bool { ref.isDirty && ref.unit >= ownStart }

  /// True if the node may change in place.
  func mayEdit(_ ref: Ref) -> Bool { owns(ref) && ref.unit >= heldUnit }

  /// Holds all nodes that exist now. Returns the unit at which they end.
  func hold() -> UInt64 {
    // New nodes must lie behind the held ones, so the free places before them are set aside.
    holds.append(Hold(end: nextUnit, places: freeUnits, sizes: freedSizes))
    (freeUnits, freedSizes) = ([], [])
    heldUnit = nextUnit
    // A return to an earlier mark must not give the places that were set aside.
    markedUnit = .max
    return heldUnit
  }

  /// Ends the holds of nodes behind `unit`. Only nodes before it stay held; 0 ends all holds.
  func setHeld(to unit: UInt64) {
    while let last = holds.last, last.end > unit {
      holds.removeLast()
      heldUnit = holds.last?.end ?? 0
      // These places became free after the earlier hold began, so they lie behind its nodes and can be given again.
      if freeUnits.isEmpty {
        (freeUnits, freedSizes) = (last.places, last.sizes)
      } else {
        // A size is in the list once for each time that the list of its places was empty.
        for units in Set(last.sizes) where !last.places[units].isEmpty {
          if freeUnits[units].isEmpty { freedSizes.append(units) }
          freeUnits[units] += last.places[units]
        }
      }
      for ref in last.freed { free(ref) }
    }
  }

  private func makeFreeLists() {
    if freeUnits.isEmpty { freeUnits = Array(repeating: [], count: Ref.maximumLength / Ref.unit + 1) }
  }

  /// Makes a node with `refCount` refs and `bodyLength` bytes behind them.
  ///
  /// The content of the body is undefined until it is written, except for the padding at its end.
  @_lifetime(borrow self)
  package func make(kind: NodeKind, level: UInt8, refCount: Int, bodyLength: Int) -> NodeWriter {
    let content = NodeView.Layout.size + refCount * refWidth.bytes + bodyLength
    let length = (content + 7) & ~7
    precondition(
      length <= Ref.maximumLength && refCount <= Int(UInt16.max), "a node of \(length) bytes is too long")
    let unit = allocate(units: (length + Ref.unit - 1) / Ref.unit)
    let base = start + Int(unit) * Ref.unit
    let identity = Ref.identity(birth: birth, kind: kind, level: level)
    base.storeBytes(of: 0, toByteOffset: length - 8, as: UInt64.self)
    base.storeBytes(of: identity.littleEndian, toByteOffset: NodeView.Layout.identity, as: UInt64.self)
    base.storeBytes(of: UInt32(length).littleEndian, toByteOffset: NodeView.Layout.length, as: UInt32.self)
    base.storeBytes(
      of: UInt32(refCount).littleEndian, toByteOffset: NodeView.Layout.refCount, as: UInt32.self)
    let ref = Ref(unit: unit, length: length, identity: identity, dirty: true)
    return NodeWriter(base, ref: ref, refCount: refCount, refWidth: refWidth, borrowing: self)
  }

  /// Makes a copy of a node, for callers that change some words of it.
  @_lifetime(borrow self)
  package func make(like node: NodeView) -> NodeWriter {
    let (base, unit) = copy(node)
    return NodeWriter(
      base, ref: own(base, unit, node), refCount: node.refCount, refWidth: refWidth, borrowing: self)
  }

  /// Copies a node of a plain file. Returns nil if the copy does not have the checksum of `ref`.
  package func makeVerified(_ node: NodeView, _ ref: Ref) -> Ref? {
    let (base, unit) = copy(node)
    let isWhole = UnsafeRawBufferPointer(start: base, count: node.length).bytes.checksum == ref.check
    let made = own(base, unit, node)
    if isWhole { return made }
    free(made)
    return nil
  }

  private func copy(_ node: NodeView) -> (base: UnsafeMutableRawPointer, unit: UInt64) {
    let unit = allocate(units: (node.length + Ref.unit - 1) / Ref.unit)
    let base = start + Int(unit) * Ref.unit
    base.copyMemory(from: node.base, byteCount: node.length)
    return (base, unit)
  }

  /// Makes a copy of a node one of the transaction's own nodes.
  private func own(_ base: UnsafeMutableRawPointer, _ unit: UInt64, _ node: NodeView) -> Ref {
    let identity = node.identity & ~Ref.maximumBirth | birth
    base.storeBytes(of: identity.littleEndian, toByteOffset: NodeView.Layout.identity, as: UInt64.self)
    return Ref(unit: unit, length: node.length, identity: identity, dirty: true)
  }

  /// Frees the space of a dirty node.
  package func free(_ ref: Ref) {
    precondition(owns(ref), "only a transaction's own nodes lie in its part of the arena")
    guard ref.unit >= heldUnit else {
      holds[holds.count - 1].freed.append(ref)
      return
    }
    let units = (ref.length + Ref.unit - 1) / Ref.unit
    makeFreeLists()
    if freeUnits[units].isEmpty { freedSizes.append(units) }
    freeUnits[units].append(ref.unit)
    liveBytes -= units * Ref.unit
    if ref.unit >= markedUnit { unitsSinceMark -= units }
  }

  /// Sets a mark. The nodes that are made from here on are likely to be freed together.
  package func mark() {
    markedUnit = nextUnit
    unitsSinceMark = 0
  }

  /// If all nodes made since the mark are free again, lets nodes of any size take their place.
  package func rewind() {
    guard unitsSinceMark == 0, nextUnit > markedUnit else { return }
    touchedUnit = max(touchedUnit, nextUnit)
    nextUnit = markedUnit
    let sizes = Set(freedSizes)
    for units in sizes { freeUnits[units].removeAll { $0 >= markedUnit } }
    freedSizes = sizes.filter { !freeUnits[$0].isEmpty }
  }

  /// Changes a ref of a dirty node in place.
  package func setRef(_ index: Int, of node: Ref, to ref: Ref) {
    edit(node) { writer in writer.setRef(index, to: ref) }
  }

  /// Changes bytes of a dirty node's body in place.
  package func edit(_ node: Ref, _ body: (inout NodeWriter) -> Void) {
    precondition(owns(node), "only a transaction's own nodes change in place")
    let base = start + Int(node.unit) * Ref.unit
    let refCount = Int(
      UInt16(littleEndian: base.load(fromByteOffset: NodeView.Layout.refCount, as: UInt16.self)))
    var writer = NodeWriter(base, ref: node, refCount: refCount, refWidth: refWidth, borrowing: self)
    body(&writer)
  }

  /// Changes bytes of a dirty node's body in place. `body` can read the node first.
  func edit<Answer>(_ node: Ref, reading body: (NodeView, borrowing NodeWriter) -> Answer) -> Answer {
    precondition(owns(node), "only a transaction's own nodes change in place")
    let base = start + Int(node.unit) * Ref.unit
    let refCount = NodeView.refCount(at: base)
    let view = NodeView(base, length: node.length, refCount: refCount, refWidth: refWidth, borrowing: self)
    return body(
      view, NodeWriter(base, ref: node, refCount: refCount, refWidth: refWidth, borrowing: self))
  }

  /// True if `bytes` bytes of values, and the nodes that change with them, still fit.
  func hasRoom(for bytes: Int) -> Bool {
    Int(nextUnit) * Ref.unit + bytes + bytes / 8 + 64 * Ref.maximumLength < size
  }

  private func allocate(units: Int) -> UInt64 {
    liveBytes += units * Ref.unit
    if !freeUnits.isEmpty, let unit = freeUnits[units].popLast() {
      if unit >= markedUnit { unitsSinceMark += units }
      return unit
    }
    let unit = nextUnit
    nextUnit += UInt64(units)
    unitsSinceMark += units
    if !hasLargePages, usedBytes > Self.keptBytes {
      hasLargePages = true
      memory?.preferLargePages(from: Self.keptBytes)
    }
    precondition(usedBytes <= size, "a transaction holds more than its arena")
    return unit
  }
}

/// A new node that is being filled.
package struct NodeWriter: ~Escapable {
  private let base: UnsafeMutableRawPointer
  private let refWidth: Int
  private let bodyOffset: Int
  /// The ref of the node. The content of the node is what has been written so far.
  package let ref: Ref

  @_lifetime(borrow arena)
  fileprivate init(
    _ base: UnsafeMutableRawPointer, ref: Ref, refCount: Int, refWidth: RefWidth,
    borrowing arena: borrowing NodeArena
  ) {
    self.base = base
    self.ref = ref
    self.refWidth = refWidth.bytes
    bodyOffset = NodeView.Layout.size + refCount * refWidth.bytes
  }

  package func setRef(_ index: Int, to child: Ref) {
    let at = NodeView.Layout.size + index * refWidth
    precondition(index >= 0 && at + refWidth <= bodyOffset, "no ref \(index) in the node")
    precondition(child.level < ref.level, "a child stands below its parent")
    base.storeBytes(of: child.place.littleEndian, toByteOffset: at, as: UInt64.self)
    base.storeBytes(of: child.identity.littleEndian, toByteOffset: at + 8, as: UInt64.self)
    base.storeBytes(of: child.check.littleEndian, toByteOffset: at + 16, as: UInt64.self)
    if refWidth == RefWidth.sealed.bytes {
      base.storeBytes(of: child.check2.littleEndian, toByteOffset: at + 24, as: UInt64.self)
    }
  }

  package func store<Integer: FixedWidthInteger & BitwiseCopyable>(_ value: Integer, at offset: Int) {
    precondition(
      offset >= 0 && bodyOffset + offset + MemoryLayout<Integer>.size <= ref.length,
      "store outside of the node's body")
    base.storeBytes(of: value.littleEndian, toByteOffset: bodyOffset + offset, as: Integer.self)
  }

  package func copy(_ bytes: RawSpan, at offset: Int) {
    precondition(
      offset >= 0 && bodyOffset + offset + bytes.byteCount <= ref.length, "copy outside of the node's body")
    guard bytes.byteCount > 0 else { return }
    bytes.withUnsafeBytes { source in
      (base + bodyOffset + offset).copyMemory(from: source.baseAddress!, byteCount: source.count)
    }
  }

  /// Copies integers to the body and subtracts `difference` from each.
  func copy<Integer: FixedWidthInteger & BitwiseCopyable>(
    _ numbers: RawSpan, at offset: Int, less difference: Integer
  ) {
    precondition(
      offset >= 0 && bodyOffset + offset + numbers.byteCount <= ref.length, "copy outside of the node's body")
    let target = base + bodyOffset + offset
    numbers.withUnsafeBytes { numbers in
      guard let source = numbers.baseAddress else { return }
      // Without checks in the loop, the compiler handles many integers at a time.
      let size = MemoryLayout<Integer>.size
      for place in 0..<numbers.count / size {
        let number = Integer(
          littleEndian: source.loadUnaligned(fromByteOffset: place &* size, as: Integer.self))
        target.storeBytes(
          of: (number &- difference).littleEndian, toByteOffset: place &* size, as: Integer.self)
      }
    }
  }

  /// Stores `count` words of 2 bytes. `word` returns the word for each index.
  @inline(__always)
  func storeWords(_ count: Int, at offset: Int, _ word: (Int) -> UInt16) {
    precondition(
      offset >= 0 && count >= 0 && bodyOffset + offset + 2 * count <= ref.length,
      "store outside of the node's body")
    let target = base + bodyOffset + offset
    for place in 0..<count {
      target.storeBytes(of: word(place).littleEndian, toByteOffset: 2 &* place, as: UInt16.self)
    }
  }

  /// Bytes of the body, for writing.
  @_lifetime(borrow self)
  package func bytes(at offset: Int, count: Int) -> MutableRawSpan {
    precondition(
      offset >= 0 && count >= 0 && bodyOffset + offset + count <= ref.length,
      "bytes outside of the node's body")
    let span = MutableRawSpan(_unsafeStart: base + bodyOffset + offset, byteCount: count)
    return _overrideLifetime(span, borrowing: self)
  }

  package func copy(_ bytes: [UInt8], at offset: Int) { copy(bytes.span.bytes, at: offset) }
}
