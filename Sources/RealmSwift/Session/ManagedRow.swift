import RealmStorage

/// A row as it was found: what a handle or a collection belongs to.
struct ManagedRow {
  /// Keeps the context.
  private let life: SessionLife
  unowned(unsafe) let context: ObjectContext
  let row: UInt64
  /// The generation of the session in which it was found.
  let birth: UInt64

  init(_ context: ObjectContext, _ row: UInt64, birth: UInt64) {
    life = context.session.life
    self.context = context
    self.row = row
    self.birth = birth
  }

  var session: RealmSession { life.session }
  var isThere: Bool { context.hasRow(row, birth: birth) }
  var isInvalid: Bool { session.isInvalid(row, birth: birth, context.binding) }

  func value(_ position: Int) -> Value { context.value(position, row, birth: birth) }

  func isSame(as other: ManagedRow) -> Bool { context.isSameTable(as: other.context) && row == other.row }
}
