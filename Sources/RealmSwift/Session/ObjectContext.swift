import Foundation
import RealmStorage

/// The access to the table of one class in one session. All managed objects of that class and session share it.
///
/// The session keeps the context. Code that refers to the context must keep the session.
final class ObjectContext {
  unowned(unsafe) let session: RealmSession
  let binding: ClassBinding
  private var current: Table?
  private var generation: UInt64 = .max

  // The following properties are for handles and reads of properties, which count no references and do not check exclusive
  // access. That is safe, because only the session's thread uses them, and each use reads or writes them at once.
  let sessionOfHandles: UncountedReference<RealmSession>
  @exclusivity(unchecked) fileprivate var window: RowWindow
  private let model: UncountedReference<ObjectModel>
  /// Whether each property is a double, by the position of the property.
  fileprivate let doubles: [Bool]
  /// The generation of the session in which `readable` was found. It is never a generation of a transaction.
  @exclusivity(unchecked) private var readGeneration: UInt64 = .max
  /// The table of the generation `readGeneration`, which the window shows; nil in a transaction.
  @exclusivity(unchecked) private var readable: TableReference?

  /// In a context of a frozen session, the number by which each thread remembers its own context in place of this one.
  /// It is 0 in all other contexts.
  private let readerNumber: UInt64
  /// The values of deleted objects, if the realm keeps them for the handles of these objects; nil otherwise.
  let lastValues: LastValues?
  /// Whether there are `lastValues`. It is stored because it is read for each handle.
  let notesHandles: Bool
  /// In a context with which one thread reads a frozen version, the context of the frozen session, to which handles
  /// refer; nil in all other contexts.
  private let sharedContext: UncountedReference<ObjectContext>?

  init(session: RealmSession, binding: ClassBinding) {
    self.session = session
    self.binding = binding
    readerNumber = session.readers == nil ? 0 : ReaderNumber.next()
    sharedContext = session.shared.map { UncountedReference($0.use { $0.context(binding) }) }
    sessionOfHandles = UncountedReference(session)
    notesHandles = session.file.configuration.keepsDeletedValues && !session.isFrozen
    lastValues = notesHandles ? LastValues() : nil
    window = RowWindow(columns: binding.columns)
    model = UncountedReference(binding.model)
    doubles = binding.model.properties.map { $0.type.column == .double }
    let key = binding.model.primaryKey.map { binding.model.properties[$0].type }
    hasNumberKey = key.map { $0.column == .int64 && !$0.isOptional } ?? false
  }

  /// Whether the objects of the context never change, so that several threads may read them at a time.
  var isFrozen: Bool { readerNumber != 0 || sharedContext != nil }

  /// The context to which handles refer. If one thread reads a frozen version with this context, it is the context of
  /// the frozen session. Otherwise it is this context.
  @inline(__always)
  var ofHandles: UncountedReference<ObjectContext> { sharedContext ?? UncountedReference(self) }

  /// The context that the current thread uses. For a context of a frozen session, it is the thread's own context.
  /// Otherwise it is this context.
  @inline(__always)
  var here: UncountedReference<ObjectContext> {
    if _fastPath(readerNumber == 0) { return UncountedReference(self) }
    return UncountedReference.known(readerNumber) ?? findReader()
  }

  @inline(never)
  private func findReader() -> UncountedReference<ObjectContext> {
    let reader = UncountedReference(session.here.context(binding))
    reader.know(readerNumber)
    return reader
  }

  /// Whether both contexts belong to the same table and the same session. Classes that share a table have separate
  /// contexts.
  func isSameTable(as other: ObjectContext) -> Bool {
    self === other || (session === other.session && binding.slot == other.binding.slot)
  }

  /// The row of an object that belongs to this table and realm; nil for any other object, and for an invalidated
  /// object.
  func row(of object: ObjectBase) -> UInt64? {
    // An object of another realm may belong to another thread, so nothing else of it is read.
    guard let kept = object.keptContext, kept.here.use({ isSameTable(as: $0) }),
      !session.isInvalid(object.row, birth: object.birth, binding)
    else { return nil }
    return object.row
  }

  /// The table in the version that the session reads, or in the open transaction; nil if there is no such table.
  func currentTable() throws(StorageError) -> Table? {
    if generation != session.generation {
      current = try session.readTable(binding)
      generation = session.generation
    }
    return current
  }

  private lazy var keptInsertion = PlainInsertion(binding)
  /// Inserts objects if `PlainInsertion` can insert objects of the class; nil otherwise.
  private(set) lazy var plainInsertion = keptInsertion.map { UncountedReference($0) }

  /// Whether the primary key is a whole number that is never nil.
  let hasNumberKey: Bool

  /// The context of the objects to which a property links, as objects of the class `type`.
  @inline(__always)
  func target(_ position: Int, as type: ObjectBase.Type) -> UncountedReference<ObjectContext> {
    if !type.isDynamic { return sessionOfHandles.use { $0.contextOfHandles(type) } }
    return dynamicTarget(position)
  }

  private func dynamicTarget(_ position: Int) -> UncountedReference<ObjectContext> {
    let column = binding.columns[position]
    guard let table = binding.table, column >= 0,
      let context = session.tableContext(table.columns[column].target)
    else {
      raise(
        "Class not in the realm",
        "\(binding.model.name).\(binding.model.properties[position].name) links to no class of "
          + "\(session.file.database.path).")
    }
    return UncountedReference(context)
  }

  func forgetTable() {
    (current, generation) = (nil, .max)
    (readable, readGeneration) = (nil, .max)
    window.begin(nil)
  }

  /// Whether the window may be read without further checks. This is so if the current thread may always use the
  /// session, the window shows what the session sees, and the object is known to be valid.
  @inline(__always)
  fileprivate func mayReadWindow(birth: UInt64) -> Bool {
    sessionOfHandles.use { session in
      session.isAtHome && readGeneration == session.generation && birth >= session.surelyValid
    }
  }

  /// Whether an object may be read through the window, which this call first moves to the version that the session
  /// sees. It is false in a transaction, for an invalid object, and if there is no table.
  fileprivate func mayRead(_ row: UInt64, birth: UInt64) -> Bool {
    sessionOfHandles.use { session in
      session.check()
      // In a transaction, each write changes what is read.
      if session.isWriting { return false }
      if readGeneration != session.generation { refreshReadable() }
      return readable != nil && !session.isInvalid(row, birth: birth, binding)
    }
  }

  /// - Precondition: no transaction is open.
  private func refreshReadable() {
    precondition(!session.isWriting, "a window on what a transaction changes")
    let table = reading { () throws(StorageError) in try currentTable() }
    readable = table.map { TableReference($0) }
    window.begin(readable)
    readGeneration = session.generation
  }

  func hasRow(_ row: UInt64, birth: UInt64) -> Bool {
    session.check()
    guard !session.isInvalid(row, birth: birth, binding) else { return false }
    return reading { () throws(StorageError) in
      // In a transaction, the table's writer answers. It need not bring its indexes into order for that.
      if session.transaction != nil { return try session.writable(binding)?.contains(row) ?? false }
      return try currentTable()?.contains(row) ?? false
    }
  }

  /// A handle of the row whose primary key is a whole number. The answer is `notReadable` in a transaction, and if
  /// there is no table.
  ///
  /// - Precondition: the primary key of the class is a whole number and is never nil.
  @inline(__always)
  func object(withPrimaryKey number: Int64) -> Lookup {
    let isWriting = sessionOfHandles.use { session in
      session.check()
      if session.isWriting { return true }
      if _slowPath(readGeneration != session.generation) { refreshReadable() }
      return false
    }
    guard !isWriting, let readable else { return .notReadable }
    do throws(StorageError) {
      guard let row = try readable.row(withPrimaryKey: number) else { return .none }
      return .object(object(row))
    } catch {
      raise("Unreadable realm", error.description)
    }
  }

  enum Lookup {
    case object(ObjectBase)
    case none
    /// The caller must search for the row in another way.
    case notReadable
  }

  /// A handle of a row that exists in the current generation of the session.
  @inline(__always)
  func object(_ row: UInt64) -> ObjectBase {
    object(row, birth: sessionOfHandles.use { $0.generation })
  }

  /// A handle of a row that existed in the generation `birth` of the session.
  @inline(__always)
  func object(_ row: UInt64, birth: UInt64) -> ObjectBase {
    ofHandles.use { shared in model.use { $0.handle(shared, row, birth: birth) } }
  }

  /// Stops the program because a row does not exist any more.
  func stopInvalidated(_ position: Int?) -> Never {
    let name =
      position.map { "\(binding.model.name).\(binding.model.properties[$0].name)" } ?? binding.model.name
    raise(
      "Invalidated object",
      "\(name) of an object that was deleted, or whose realm was invalidated; ask isInvalidated before.")
  }

  /// Whether nothing can have changed since a row was found in the generation `birth`.
  func isNew(birth: UInt64) -> Bool { birth == session.generation }

  /// Stops the program because a row does not exist. If nothing can have changed since the row was found, the file is
  /// damaged. Otherwise the row was deleted.
  func stopMissing(_ position: Int?, isNew: Bool) -> Never {
    guard isNew else { stopInvalidated(position) }
    do throws(StorageError) {
      if let error = try currentTable()?.missingRow { raise("Unreadable realm", error.description) }
    } catch {
      raise("Unreadable realm", error.description)
    }
    stopInvalidated(position)
  }

  func value(_ position: Int, _ row: UInt64, birth: UInt64) -> Value {
    session.check()
    let isInvalid = session.isInvalid(row, birth: birth, binding)
    let isNew = isNew(birth: birth)
    let isWriting = session.transaction != nil
    let found = reading { () throws(StorageError) -> Value? in
      if isInvalid { return nil }
      let column = binding.columns[position]
      if isWriting {
        if let value = try session.writable(binding)?.value(column, ofRow: row) { return value }
      } else if let table = try currentTable(),
        let value = try table.value(table.schema.columns[column], ofRow: row)
      {
        return value
      }
      return try lastValue(position, row)
    }
    guard let found else { stopMissing(position, isNew: isNew) }
    return found
  }

  func set(_ value: Value, _ position: Int, _ row: UInt64, birth: UInt64) {
    checkChange(position)
    let isInvalid = session.isInvalid(row, birth: birth, binding)
    let isNew = isNew(birth: birth)
    session.migration?.willSet(position, of: self)
    let isThere =
      !isInvalid
      && session.writing(binding, column: onlyColumn(position)) { (table) throws(StorageError) in
        try table.set(value, binding.columns[position], ofRow: row)
      }
    if !isThere { stopMissing(position, isNew: isNew) }
  }

  /// The column of a property if a change of the property changes nothing else, which is so if it holds one value that
  /// can't be a link; nil for all other properties.
  private func onlyColumn(_ position: Int) -> Int? {
    let type = binding.model.properties[position].type
    guard type.form == .value, type.column != .link, type.column != .mixed else { return nil }
    return binding.columns[position]
  }

  /// Stops the program if a property can't be set now, or is the primary key.
  private func checkChange(_ position: Int) {
    session.check()
    let property = binding.model.properties[position]
    session.requireTransaction("set \(binding.model.name).\(property.name)")
    guard property.role == .primaryKey else { return }
    raise(
      "Primary key of a managed object",
      "\(binding.model.name).\(property.name) can't change; create an object with the new key instead.")
  }

  /// Adds `amount` to a whole number, unless the number is nil. Returns false if the sum is out of range.
  func add(
    _ amount: Int64, _ position: Int, _ row: UInt64, birth: UInt64, within range: ClosedRange<Int64>
  ) -> Bool {
    checkChange(position)
    let isInvalid = session.isInvalid(row, birth: birth, binding)
    let isNew = isNew(birth: birth)
    let found: Addition =
      isInvalid
      ? .noRow
      : session.writing(binding, column: onlyColumn(position)) { (table) throws(StorageError) in
        try table.add(amount, to: binding.columns[position], ofRow: row, within: range)
      }
    if found == .noRow { stopMissing(position, isNew: isNew) }
    return found != .overflow
  }
}

extension ObjectBase {
  // The functions for numbers and texts are alike on purpose. If they shared code that takes a closure for the
  // difference, a walk over objects would take an eighth longer. The first function of each tries what most walks read,
  // and calls no function for that. It leaves everything else to a separate function, so that nothing must be saved and
  // restored around the call.

  /// The value of a property as 64 bits; nil for null. It is a whole number, a truth value as 0 or 1, the key of the
  /// row to which a link leads, or the bits of a double.
  @usableFromInline
  final func integer(_ position: Int) -> Int64? {
    guard let keptContext else { stopUnmanaged() }
    return keptContext.use { context in
      guard context.mayReadWindow(birth: birth), let number = context.window.plainNumber(position, ofRow: row)
      else { return decodedInteger(position) }
      return number
    }
  }

  @inlinable
  @inline(__always)
  final func double(_ position: Int) -> Double? {
    integer(position).map { Double(bitPattern: UInt64(bitPattern: $0)) }
  }

  @usableFromInline
  final func text(_ position: Int) -> String? {
    guard let keptContext else { stopUnmanaged() }
    return keptContext.use { context in
      guard context.mayReadWindow(birth: birth), let text = context.window.plainText(position, ofRow: row)
      else { return decodedText(position) }
      return text.text
    }
  }

  @inline(never)
  private final func decodedInteger(_ position: Int) -> Int64? {
    guard let keptContext else { stopUnmanaged() }
    return keptContext.here.use { context in
      guard context.mayReadWindow(birth: birth),
        let decoded = context.window.decodedInteger(position, ofRow: row)
      else { return readInteger(position) }
      return decoded
    }
  }

  @inline(never)
  private final func decodedText(_ position: Int) -> String? {
    guard let keptContext else { stopUnmanaged() }
    return keptContext.here.use { context in
      guard context.mayReadWindow(birth: birth),
        let decoded = context.window.decodedText(position, ofRow: row)
      else { return readText(position) }
      return decoded
    }
  }

  @inline(never)
  private final func readInteger(_ position: Int) -> Int64? {
    if keptContext?.use({ $0.doubles[position] }) == true {
      return readDouble(position).map { Int64(bitPattern: $0.bitPattern) }
    }
    let read = read(position) { (window, row) throws(StorageError) in try window.integer(position, ofRow: row)
    }
    if let read { return read }
    return switch stored(position) {
    case .int(let number): number
    case .bool(let flag): flag ? 1 : 0
    case .link(let row): Int64(bitPattern: row)
    default: nil
    }
  }

  private final func readDouble(_ position: Int) -> Double? {
    read(position) { (window, row) throws(StorageError) in try window.double(position, ofRow: row) }
      ?? Double._load(stored(position))
  }

  @inline(never)
  private final func readText(_ position: Int) -> String? {
    read(position) { (window, row) throws(StorageError) in try window.text(position, ofRow: row) }
      ?? String._load(stored(position))
  }

  final func data(_ position: Int) -> Data? {
    read(position) { (window, row) throws(StorageError) in
      try window.bytes(position, ofRow: row) { Data(copying: $0) }
    } ?? Data._load(stored(position))
  }

  /// The content of a column in the table of a managed object; nil if it is null. The outer optional is nil if the
  /// value must be read in another way.
  @inline(__always)
  private final func read<Content>(
    _ position: Int, _ body: (inout RowWindow, UInt64) throws(StorageError) -> Found<Content>
  ) -> Content?? {
    guard let keptContext else { stopUnmanaged() }
    return keptContext.here.use { context in
      guard context.mayRead(row, birth: birth) else { return .none }
      do throws(StorageError) {
        switch try body(&context.window, row) {
        case .value(let content): return .some(content)
        case .null: return .some(nil)
        case .noRow:
          if context.notesHandles { return .none }
          stopMissing(position)
        }
      } catch {
        raise("Unreadable realm", error.description)
      }
    }
  }

  @inline(never)
  private final func stopUnmanaged() -> Never {
    raise("Unmanaged object", "it has no row to read a property of.")
  }

  @inline(never)
  private final func stopMissing(_ position: Int) -> Never {
    guard let context else { stopUnmanaged() }
    context.stopMissing(position, isNew: context.isNew(birth: birth))
  }

  /// The stored value of a property of a managed object.
  func stored(_ position: Int) -> Value {
    guard let context else { stopUnmanaged() }
    return context.value(position, row, birth: birth)
  }

  func store(_ value: Value, _ position: Int) {
    guard let context else { raise("Unmanaged object", "it has no row to write a property of.") }
    context.set(value, position, row, birth: birth)
  }

  /// Returns a function that adds an object to the realm because the property is set to it. That function returns the
  /// row of the object.
  func addingRow(_ position: Int) -> _RowOfObject {
    { [self] target in
      guard let context else { return nil }
      context.session.check()
      let name = { "set \(context.binding.model.name).\(context.binding.model.properties[position].name)" }
      context.session.requireTransaction(name())
      context.binding.model.check(target, fits: position)
      // An embedded object may be assigned again to the property that holds it.
      if target.isPart, target.context?.session === context.session,
        stored(position) == .link(target.row)
      {
        return target.row
      }
      return ObjectAdder(context.session, .error).add(target)
    }
  }

  /// A handle of a row to which a property links.
  func linked<Target: ObjectBase>(_ row: UInt64, by position: Int, as type: Target.Type) -> Target {
    guard let keptContext else { raise("Unmanaged object", "it has no row that links.") }
    let object = keptContext.here.use { context in
      context.target(position, as: type).use { $0.object(row) }
    }
    return unsafeDowncast(object, to: type)
  }
}
