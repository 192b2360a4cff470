/// Maps the refs that nodes had in the arena to the refs of the same nodes in the file.
struct WrittenRefs: Sendable {
  private var few: [(dirty: Ref, written: Ref)] = []
  /// The refs in the file by the places in the arena, if there are more than `mostFew`.
  private var many: [UInt64: Ref] = [:]

  private static let mostFew = 64

  mutating func add(_ dirty: [Ref], writtenAs written: [Ref]) {
    if many.isEmpty, few.count + dirty.count <= Self.mostFew {
      few.reserveCapacity(few.count + dirty.count)
      for (dirty, written) in zip(dirty, written) { few.append((dirty, written)) }
      return
    }
    for (dirty, written) in few { many[dirty.place] = written }
    few = []
    for (dirty, written) in zip(dirty, written) { many[dirty.place] = written }
  }

  mutating func removeAll() {
    few.removeAll(keepingCapacity: true)
    many = [:]
  }

  /// The ref in the file of a node with a ref in the arena; nil if the node was not written.
  func find(_ dirty: Ref) -> Ref? {
    for entry in few where entry.dirty.place == dirty.place { return entry.written }
    return many.isEmpty ? nil : many[dirty.place]
  }
}
