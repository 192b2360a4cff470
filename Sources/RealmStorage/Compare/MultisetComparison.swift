/// Compares the tables of two databases that have no common primary key. An object is identified by its content, and
/// may exist several times.
///
/// The rows of both tables are compared in their order, at the same time. So memory is needed only for rows that are at
/// different places in the two tables: 16 bytes and a count for each.
struct MultisetComparison {
  typealias Body = RowComparison.Body

  let rows: RowComparison
  let columns: [(old: Column, new: Column)]
  private var counts: [Digest: Int] = [:]

  /// The digest of a row's values: two hashes with seeds that each process chooses anew, so that no file can be made to
  /// have rows with different values and equal digests.
  private struct Digest: Hashable {
    var first: Int
    var second: Int
  }

  init(_ rows: RowComparison, columns: [(old: Column, new: Column)]) {
    self.rows = rows
    self.columns = columns
  }

  mutating func forEach(_ body: Body) throws(StorageError) -> Bool {
    guard let oldTable = rows.oldTable, let newTable = rows.newTable else { return true }
    let (before, after) = (columns.map(\.old), columns.map(\.new))
    var left = DigestWalk(rows.old, oldTable, before)
    var right = DigestWalk(rows.new, newTable, after)
    while true {
      let (one, other) = (try left.next(), try right.next())
      if one == nil, other == nil { break }
      if let one { count(one, 1) }
      if let other { count(other, -1) }
    }
    guard !counts.isEmpty else { return true }
    left = DigestWalk(rows.old, oldTable, before)
    while let digest = try left.next() {
      guard let count = counts[digest], count > 0 else { continue }
      self.count(digest, -1)
      guard try rows.tellRemoved(left.key, body) else { return false }
    }
    right = DigestWalk(rows.new, newTable, after)
    while let digest = try right.next() {
      guard let count = counts[digest], count < 0 else { continue }
      self.count(digest, 1)
      guard try rows.tellAdded(right.key, body) else { return false }
    }
    return true
  }

  private mutating func count(_ digest: Digest, _ amount: Int) {
    let count = (counts[digest] ?? 0) + amount
    counts[digest] = count == 0 ? nil : count
  }

  /// The digests of the rows of a table, in the order of the rows.
  private struct DigestWalk {
    private let side: ComparedSide
    private let table: ComparedSide.TableOfSide
    private let columns: [Column]
    private var digests: ArraySlice<(key: UInt64, Digest)> = []
    private var nextKey: UInt64? = 0
    /// The key of the row whose digest was returned last.
    private(set) var key: UInt64 = 0

    init(_ side: ComparedSide, _ table: ComparedSide.TableOfSide, _ columns: [Column]) {
      self.side = side
      self.table = table
      self.columns = columns
    }

    mutating func next() throws(StorageError) -> Digest? {
      while digests.isEmpty {
        guard let key = nextKey, !table.side.root.clusters.isNull else { return nil }
        try read(from: key)
      }
      let first = digests.removeFirst()
      key = first.key
      return first.1
    }

    @inline(never)
    private mutating func read(from key: UInt64) throws(StorageError) {
      let (leaf, following) = try Leaves.leaf(for: key, of: table.side)
      nextKey = following
      let reader = table.side.reader
      let access = reader.access()
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      var digests: [(key: UInt64, Digest)] = []
      for row in 0..<cluster.rows {
        var hashers = (Hasher(), Hasher())
        hashers.1.combine(1)
        for column in columns {
          let stored = try TableReading.value(
            column, row, of: cluster, table.side.root.dictionaries.view, access)
          let value = try side.seen(stored, column)
          hashers.0.combine(value)
          hashers.1.combine(value)
        }
        digests.append(
          (cluster.key(row), Digest(first: hashers.0.finalize(), second: hashers.1.finalize())))
      }
      self.digests = digests[...]
    }
  }
}
