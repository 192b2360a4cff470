/// A reader of nodes of the open transaction that continues to read them while the transaction changes. The nodes that
/// exist when it begins stay as they are: the transaction changes copies of them, and gives their places to no other
/// node.
protocol NodeHolder: AnyObject {
  /// Reads all that the holder still needs, because the transaction ends and its nodes end with it.
  func takeAll()
}

/// The holders of a transaction's nodes.
struct NodeHolds {
  private var holds: [(mark: UInt64, holder: WeakHolder)] = []

  private struct WeakHolder { weak var holder: (any NodeHolder)? }

  var isEmpty: Bool { holds.isEmpty }

  /// - Parameter mark: The end of the held nodes in the arena.
  mutating func add(_ holder: any NodeHolder, mark: UInt64) {
    holds.append((mark, WeakHolder(holder: holder)))
  }

  /// Removes the holders that no longer exist. Returns the end of the nodes that are still held, or 0 if none are.
  ///
  /// A holder calls this while it is being freed. Its weak reference is nil then, so it is removed too.
  mutating func removeGone() -> UInt64 {
    holds.removeAll { $0.holder.holder == nil }
    return holds.map { $0.mark }.max() ?? 0
  }

  /// Tells all holders that the transaction ends.
  mutating func end() {
    let ended = holds
    holds = []
    for hold in ended { hold.holder.holder?.takeAll() }
  }
}
