import RealmStorage

/// A transaction, to those that it made.
final class TransactionOrigin {
  var isCancelled = false
}

/// What the managed objects of one class share: the realm they belong to, and the table as of now.
@usableFromInline
final class ObjectContext {
  let session: RealmSession
  let binding: ClassBinding
  /// The transaction that made its objects; nil where they may be older.
  private let origin: TransactionOrigin?
  private let epoch: UInt64
  fileprivate var current: Table?

  private var generation: UInt64 = .max

  init(session: RealmSession, binding: ClassBinding, origin: TransactionOrigin? = nil) {
    self.session = session
    self.binding = binding
    self.origin = origin
    epoch = session.epoch
  }

  /// No object of it may be used any more.
  var isInvalid: Bool { epoch != session.epoch || origin?.isCancelled == true }

  /// The row of an object of this class and realm; nil of others, and of one that was invalidated.
  func row(of object: ObjectBase) -> UInt64? {
    guard let other = object.context, other.session === session, other.binding === binding, !other.isInvalid
    else { return nil }
    return object.row
  }

  /// The table as the session sees it now; nil where there is none.
  func currentTable() throws(StorageError) -> Table? {
    try refreshTable()
    return current
  }

  @inline(__always)
  fileprivate func refreshTable() throws(StorageError) {
    if generation != session.generation { try readTable() }
  }

  private func readTable() throws(StorageError) {
    current = try session.table(binding)
    generation = session.generation
  }

  func hasRow(_ row: UInt64) -> Bool {
    session.check()
    guard !isInvalid else { return false }
    return reading { () throws(StorageError) in
      // Asked of what is being written, which is spared putting its indexes in order.
      if session.transaction != nil { return try session.writable(binding)?.contains(row) ?? false }
      return try currentTable()?.contains(row) ?? false
    }
  }

  /// A handle of a row that is there now.
  @inline(__always)
  func object(_ row: UInt64) -> ObjectBase { object(row, birth: session.birth) }

  /// A handle of a row that was there in a generation.
  @inline(__always)
  func object(_ row: UInt64, birth: UInt32) -> ObjectBase {
    binding.model.handle(session.context(self, ofRow: row), row, birth: birth)
  }

  /// Stops the program where a row is not there any more.
  func stopInvalidated(_ position: Int?) -> Never {
    let name =
      position.map { "\(binding.model.name).\(binding.model.properties[$0].name)" } ?? binding.model.name
    raise(
      "Invalidated object",
      "\(name) of an object that was deleted, or whose realm was invalidated; ask isInvalidated before.")
  }

  /// Stops where a handle's row is not there: it was deleted, or, where nothing can have changed since the handle was made,
  /// the file is damaged.
  func stopMissing(_ position: Int?, isNew: Bool) -> Never {
    guard isNew, !isInvalid else { stopInvalidated(position) }
    do throws(StorageError) {
      if let error = try currentTable()?.missingRow { raise("Unreadable realm", error.description) }
    } catch {
      raise("Unreadable realm", error.description)
    }
    stopInvalidated(position)
  }

  private func isNew(_ birth: UInt32?) -> Bool { birth == session.birth }

  /// Calls `body` with the table and the position of a property's column.
  @inline(__always)
  private func read<Content>(
    _ position: Int, _ birth: UInt32?, _ body: (Table, Int) throws(StorageError) -> Content?
  ) -> Content {
    session.check()
    let found = reading { () throws(StorageError) -> Content? in
      guard !isInvalid, let table = try currentTable() else { return nil }
      return try body(table, binding.columns[position])
    }
    guard let found else { stopMissing(position, isNew: isNew(birth)) }
    return found
  }

  /// - Parameter birth: of the handle whose row it is, where that is known.
  func value(_ position: Int, _ row: UInt64, birth: UInt32? = nil) -> Value {
    if session.transaction != nil { return writtenValue(position, row, birth) }
    return read(position, birth) { (table, column) throws(StorageError) in
      try table.value(table.schema.columns[column], ofRow: row)
    }
  }

  func cell(_ position: Int, _ row: UInt64) -> PendingLists.Cell {
    PendingLists.Cell(binding: binding.index, row: row, position: position)
  }

  /// The same in the open transaction.
  private func writtenValue(_ position: Int, _ row: UInt64, _ birth: UInt32?) -> Value {
    session.check()
    let isNew = isNew(birth)
    if !isInvalid, let values = session.pendingLists[cell(position, row)] { return .list(values) }
    let found = reading { () throws(StorageError) in
      isInvalid ? nil : try session.writable(binding)?.value(binding.columns[position], ofRow: row)
    }
    guard let found else { stopMissing(position, isNew: isNew) }
    return found
  }

  func set(_ value: Value, _ position: Int, _ row: UInt64, birth: UInt32? = nil) {
    session.check()
    let property = binding.model.properties[position]
    session.requireTransaction("set \(binding.model.name).\(property.name)")
    if property.role == .primaryKey {
      raise(
        "Primary key of a managed object",
        "\(binding.model.name).\(property.name) can't change; create an object with the new key instead.")
    }
    let isNew = isNew(birth)
    let isThere = session.writing(binding) { (table) throws(StorageError) in
      isInvalid ? false : try table.set(value, binding.columns[position], ofRow: row)
    }
    if !isThere { stopMissing(position, isNew: isNew) }
  }
}

extension ObjectContext {
  /// What a row has in a property, read as the type that its column has.
  @inline(__always)
  fileprivate func read<Content>(
    _ position: Int, birth: UInt32, _ body: (borrowing Table, Int) throws(StorageError) -> Found<Content>
  ) -> Content? {
    session.check()
    var found = Found<Content>.noRow
    do throws(StorageError) {
      if !isInvalid {
        try refreshTable()
        if let current { found = try body(current, binding.columns[position]) }
      }
    } catch {
      raise("Unreadable realm", error.description)
    }
    switch found {
    case .value(let content): return content
    case .null: return nil
    case .noRow: stopMissing(position, isNew: birth == session.birth)
    }
  }
}

extension ObjectBase {
  /// A whole number, a truth value as 0 or 1; nil for null.
  @usableFromInline
  func integer(_ position: Int) -> Int64? {
    guard let context, context.session.transaction == nil else {
      switch stored(position) {
      case .int(let number): return number
      case .bool(let flag): return flag ? 1 : 0
      default: return nil
      }
    }
    return context.read(position, birth: birth) { (table, column) throws(StorageError) in
      try table.integer(column, ofRow: row)
    }
  }

  func double(_ position: Int) -> Double? {
    guard let context, context.session.transaction == nil else { return Double._load(stored(position)) }
    return context.read(position, birth: birth) { (table, column) throws(StorageError) in
      try table.double(column, ofRow: row)
    }
  }

  func text(_ position: Int) -> String? {
    guard let context, context.session.transaction == nil else { return String._load(stored(position)) }
    return context.read(position, birth: birth) { (table, column) throws(StorageError) in
      try table.text(column, ofRow: row)
    }
  }

  /// What the row of a managed object has in a property.
  func stored(_ position: Int) -> Value {
    guard let context else { raise("Unmanaged object", "it has no row to read a property of.") }
    return context.value(position, row, birth: birth)
  }

  func store(_ value: Value, _ position: Int) {
    guard let context else { raise("Unmanaged object", "it has no row to write a property of.") }
    context.set(value, position, row, birth: birth)
  }

  /// Adds what is linked by a property that is being set.
  func addingRow(_ position: Int) -> _RowOfObject {
    { [self] target in
      guard let context else { return nil }
      context.session.check()
      let name = { "set \(context.binding.model.name).\(context.binding.model.properties[position].name)" }
      context.session.requireTransaction(name())
      context.binding.model.check(target, fits: position)
      return ObjectAdder(context.session, .error).add(target)
    }
  }

  /// A handle of a row that a property links to.
  func linked<Target: ObjectBase>(_ row: UInt64, as type: Target.Type) -> Target {
    guard let context else { raise("Unmanaged object", "it has no row that links.") }
    return unsafeDowncast(context.session.context(type).object(row), to: type)
  }

  func stopUnreadable(_ position: Int, _ value: Value) -> Never {
    let model = ObjectModel.of(Swift.type(of: self))
    raise(
      "Unreadable value",
      "\(model.name).\(model.properties[position].name) holds a value that is no "
        + "\(model.properties[position].field.valueType): a program with other types or cases wrote it.")
  }
}
