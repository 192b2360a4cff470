import RealmStorage

/// An iteration over the objects of rows, for any class.
@usableFromInline
struct ObjectWalk {
  private var rows: [UInt64]
  private var index = 0
  /// The rest of a run of rows with consecutive keys: the next key, and the key behind the last.
  private var run: (next: UInt64, end: UInt64) = (0, 0)
  private var handle: WalkingHandle
  /// The table of a version whose rows are all visited, group by group; nil if rows are listed.
  private var table: Table?
  /// The key at which the next group begins.
  private var next: UInt64?
  /// The number of the table's rows that were in the groups read so far.
  private var seen = 0

  init(_ rows: [UInt64], _ context: ObjectContext) {
    self.rows = rows
    handle = WalkingHandle(context)
  }

  init(_ table: Table, _ context: ObjectContext) {
    self.init([], context)
    self.table = table
    next = 0
  }

  @usableFromInline
  mutating func nextObject() -> ObjectBase? {
    if _slowPath(run.next == run.end) { return listedObject() }
    defer { run.next &+= 1 }
    return handle.move(to: run.next)
  }

  /// The object of the next listed row. If no listed row is left, the next group is read and its first object is answered.
  @inline(never)
  private mutating func listedObject() -> ObjectBase? {
    if index == rows.count { readGroup() }
    if index < rows.count {
      defer { index += 1 }
      return handle.move(to: rows[index])
    }
    guard run.next != run.end else { return nil }
    defer { run.next &+= 1 }
    return handle.move(to: run.next)
  }

  private mutating func readGroup() {
    // An intact table has no empty group.
    while index == rows.count, run.next == run.end, let first = next, let table {
      let group = reading { () throws(StorageError) in
        let group = try table.rowKeys(from: first)
        seen += group.rows?.count ?? 0
        if group.next == nil || seen > table.count { try table.expect(seen, of: table.count) }
        return group
      }
      next = group.next
      guard let found = group.rows else { continue }
      (rows, index) = (found.keys, 0)
      if rows.isEmpty { run = (found.first, found.last &+ 1) }
    }
  }
}
