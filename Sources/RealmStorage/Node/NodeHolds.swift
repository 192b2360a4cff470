/// Who reads nodes of the open transaction as they are now, while the transaction goes on. The nodes there are stay as they are:
/// who changes one changes a copy, and what is freed keeps its place.
protocol NodeHolder: AnyObject {
  /// Reads what it still needs: the transaction ends, and its nodes with it.
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
  /// A holder that goes can't be found any more: its hold is one whose holder is gone.
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
