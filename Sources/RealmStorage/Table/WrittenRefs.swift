/// What names the nodes of a small commit in the file, for who knows them by their refs in the arena.
final class WrittenRefs {
  private let dirty: [Ref]
  private let written: [Ref]
  /// Whether the commit had written all that were asked for: else what they were asked for is of no use.
  private(set) var isComplete = true

  /// Each ref is looked for among all of them.
  private static let maximumCount = 64

  /// Nil of so many nodes that it is faster to read them again than to look for them.
  init?(_ dirty: [Ref], writtenAs written: [Ref]) {
    guard dirty.count == written.count, dirty.count <= Self.maximumCount else { return nil }
    self.dirty = dirty
    self.written = written
  }

  /// The ref itself where it names a node of the file; null where the commit has not written its node.
  func final(_ ref: Ref) -> Ref {
    guard ref.isDirty else { return ref }
    for index in dirty.indices where dirty[index].place == ref.place { return written[index] }
    isComplete = false
    return .null
  }
}
