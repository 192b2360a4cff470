/// A reader of nodes of the open transaction that goes on reading them while the transaction changes. The nodes that there are when it
/// begins stay as they are: the transaction changes copies of them, and gives their places to no other node.
protocol NodeHolder: AnyObject {
  /// Reads all that it still needs, since the transaction ends and its nodes go with it.
  func takeAll()
}

/// The holders of a transaction's nodes.
struct NodeHolds {
  private var holds: [(mark: UInt64, holder: WeakHolder)] = []

  private struct WeakHolder { weak var holder: (any NodeHolder)? }

  var isEmpty: Bool { holds.isEmpty }

  /// - Parameter mark: the end of the nodes that are held.
  mutating func add(_ holder: any NodeHolder, mark: UInt64) {
    holds.append((mark, WeakHolder(holder: holder)))
  }

  /// Answers the end of the nodes that are held from now on: 0 where none are.
  ///
  /// A holder calls this while it is being freed. It is found by its weak reference, which is nil then.
  mutating func removeGone() -> UInt64 {
    holds.removeAll { $0.holder.holder == nil }
    return holds.map { $0.mark }.max() ?? 0
  }

  /// Tells all that the transaction ends.
  mutating func end() {
    let ended = holds
    holds = []
    for hold in ended { hold.holder.holder?.takeAll() }
  }
}
