/// A prepared condition on rows. It says for a whole cluster which rows pass.
///
/// A test lives as long as one query, and is used by one thread.
class ClusterTest {
  /// The approximate cost of testing a row, as a multiple of the cost of comparing one number.
  var cost: Int { 0 }

  /// The rows among `rows` that pass. A test may look at other rows too, but none of these is in the result.
  ///
  /// - Parameter rows: rows of the cluster.
  func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    rows
  }

  /// Prefetches the bytes that the test will probably read of a cluster that a walk reaches soon.
  func prefetch(_ cluster: Ref, _ access: borrowing NodeAccess) {}
}

/// A test that all rows pass, or none.
final class ConstantTest: ClusterTest {
  let holds: Bool

  init(_ holds: Bool) { self.holds = holds }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    holds ? rows : .none
  }
}

/// Decides which rows pass by two facts about each row: whether it is null, and whether a search has found it.
struct Verdict {
  /// Whether the rows pass that the search has not found, instead of those that it has found.
  var isNegated: Bool
  var nullPasses: Bool

  /// The rows that pass.
  ///
  /// - Parameter found: the rows that the search has found. Rows that are null may be among them or not.
  @inline(__always)
  func mask(_ found: RowMask, nulls: RowMask, within rows: RowMask) -> RowMask {
    let passing = (isNegated ? rows.subtracting(found) : found & rows).subtracting(nulls)
    return nullPasses ? passing | (nulls & rows) : passing
  }

  /// The rows that pass if all rows have the same value, or all are null.
  func mask(ofAll isNull: Bool, isFound: Bool, within rows: RowMask) -> RowMask {
    (isNull ? nullPasses : isFound != isNegated) ? rows : .none
  }
}

extension ClusterNode {
  func nulls(_ descriptor: Descriptor) -> RowMask {
    if descriptor.nullCount == 0 { return .none }
    if Int(descriptor.nullCount) == rows { return RowMask(first: rows) }
    return RowMask(bits: view.bytes(at: descriptor.offset, count: (rows + 7) / 8), count: rows)
  }
}
