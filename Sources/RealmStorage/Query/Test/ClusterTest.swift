/// A condition on rows, prepared: answers of a whole cluster which rows pass.
///
/// Lives as long as one query, in one thread.
class ClusterTest {
  /// What a row costs, about, as a multiple of comparing one number.
  var cost: Int { 0 }

  /// Those of `rows` that pass. What it knows of other rows is for it to say or not: none of them is in the answer.
  ///
  /// - Parameter rows: of the cluster.
  func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    rows
  }

  /// Asks memory for what it will likely read of a cluster that a walk comes to soon.
  func prefetch(_ cluster: Ref, _ access: borrowing NodeAccess) {}
}

/// All rows pass, or none.
final class ConstantTest: ClusterTest {
  let holds: Bool

  init(_ holds: Bool) { self.holds = holds }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    holds ? rows : .none
  }
}

/// What a test says of rows by whether they are null, or in what it looks for.
struct Verdict {
  /// Rows pass that are in it; or, where it is negated, that are not.
  var isNegated: Bool
  var nullPasses: Bool

  /// - Parameter found: of rows that are null, any.
  @inline(__always)
  func mask(_ found: RowMask, nulls: RowMask, within rows: RowMask) -> RowMask {
    let passing = (isNegated ? rows.subtracting(found) : found & rows).subtracting(nulls)
    return nullPasses ? passing | (nulls & rows) : passing
  }

  /// Of rows that all have one value, or are all null.
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
