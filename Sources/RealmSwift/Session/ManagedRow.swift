import RealmStorage

/// A row, with the generation in which it was found. A handle or a collection belongs to it.
struct ManagedRow {
  /// Keeps the context alive.
  private let life: SessionLife
  /// The context to which handles refer.
  private let shared: UncountedReference<ObjectContext>
  let row: UInt64
  /// The generation of the session in which the row was found.
  let birth: UInt64

  init(_ context: ObjectContext, _ row: UInt64, birth: UInt64) {
    let shared = context.ofHandles
    self.shared = shared
    life = shared.counted.session.life
    self.row = row
    self.birth = birth
  }

  /// The context that the current thread uses.
  var context: ObjectContext { shared.use { $0.here }.counted }
  var contextOfHandles: ObjectContext { shared.counted }
  var session: RealmSession { life.session.here }
  /// Whether the row never changes, so that several threads may use it at a time.
  var isFrozen: Bool { shared.use { $0.isFrozen } }
  /// Whether this only names a row that is taken from one session to another, and can't be read.
  var isNameOnly: Bool { shared.use { $0.session.namesOnly } }
  var isThere: Bool { context.hasRow(row, birth: birth) }
  var isInvalid: Bool { session.isInvalid(row, birth: birth, context.binding) }

  func value(_ position: Int) -> Value { context.value(position, row, birth: birth) }

  func isSame(as other: ManagedRow) -> Bool { context.isSameTable(as: other.context) && row == other.row }

  /// The same row in another session of the file; nil if the row does not exist there.
  func moved(to session: RealmSession) -> ManagedRow? {
    let context = session.context(shared.use { $0.binding })
    let birth = context.sessionOfHandles.use { $0.generation }
    // A session that only names rows can't look for them.
    guard session.namesOnly || context.here.use({ $0.hasRow(row, birth: birth) }) else { return nil }
    return ManagedRow(context, row, birth: birth)
  }
}
