import RealmStorage

/// Walks the objects of rows, whatever their class.
@usableFromInline
struct ObjectWalk {
  private var rows: [UInt64]
  private var index = 0
  private var handle: WalkingHandle
  /// All rows of a version's table, group by group.
  private var table: Table?
  /// Where the next group begins.
  private var next: UInt64?
  /// Of a table's rows, how many were in groups so far.
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
    if _slowPath(index == rows.count) { readGroup() }
    guard index < rows.count else { return nil }
    defer { index += 1 }
    return handle.move(to: rows[index])
  }

  private mutating func readGroup() {
    // No group of a sound table is empty.
    while index == rows.count, let first = next, let table {
      let group = reading { () throws(StorageError) in
        let group = try table.keys(from: first)
        seen += group.keys.count
        if group.next == nil || seen > table.count { try table.expect(seen, of: table.count) }
        return group
      }
      (rows, index, next) = (group.keys, 0, group.next)
    }
  }
}
