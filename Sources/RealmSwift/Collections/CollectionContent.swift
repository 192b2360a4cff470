import RealmStorage
import Synchronization

/// The objects of a collection: those that a plan finds among the objects of a source. They are read anew when the realm has
/// changed, and only as far as they are asked for.
public final class _CollectionContent {
  enum Source {
    /// All objects of the class.
    case all
    /// The elements of a list or set.
    case collection(ManagedRow, position: Int)
    /// The objects whose property links to a row, once for each link.
    case linking(ManagedRow, position: Int)
    /// The objects that another content finds, limited to a part of its rows.
    case found(_CollectionContent)

    /// The same source in another session; nil if its object does not exist there.
    fileprivate func moved(to session: RealmSession) -> Source? {
      switch self {
      case .all: return .all
      case .collection(let owner, let position):
        return owner.moved(to: session).map { .collection($0, position: position) }
      case .linking(let target, let position):
        return target.moved(to: session).map { .linking($0, position: position) }
      case .found(let content): return content.moved(to: session).map { .found($0) }
      }
    }
  }

  /// Keeps the context alive.
  private let life: SessionLife
  /// The context of the objects' class to which handles refer.
  private let shared: UncountedReference<ObjectContext>
  /// The generation in which the content was made.
  private let birth: UInt64
  private let source: Source
  private let predicate: RealmStorage.Predicate
  private let steps: [RowPlan.Step]
  private let isWholeTable: Bool
  /// The id of the subscription by which a server was asked for these objects; nil if none was. It is set in the session's
  /// scheduler.
  var subscription: SixteenBytes?

  /// Results of searches, each with the generation of the session in which it was found.
  private struct Findings {
    var known: (rows: [UInt64], generation: UInt64)?
    // These two are for a sort, until all of its objects are asked for: the first rows in order, and the rows to be
    // sorted.
    var head: (rows: [UInt64], generation: UInt64)?
    var unsorted: (rows: [UInt64], generation: UInt64)?
    /// The order that an observer of the same plan knows, which the content shares.
    var order: (rows: RowOrder?, generation: UInt64)?
    /// The number of objects. A caller that counts a collection and then walks it relies on that number.
    var counted: (count: Int, generation: UInt64)?
  }
  private var ownFindings = Findings()
  /// The findings of frozen objects, which several threads may read at a time; nil for other objects. The first thread that
  /// finds something notes it.
  private let sharedFindings: SharedFindings?

  private final class SharedFindings: Sendable {
    let findings = Mutex(Findings())
  }

  private var findings: Findings {
    @inline(__always) _read {
      if let sharedFindings {
        let copy = sharedFindings.findings.withLock { $0 }
        yield copy
      } else {
        yield ownFindings
      }
    }
    @inline(__always) _modify {
      if let sharedFindings {
        var copy = sharedFindings.findings.withLock { $0 }
        yield &copy
        let changed = copy
        sharedFindings.findings.withLock { $0 = changed }
      } else {
        yield &ownFindings
      }
    }
  }
  private var known: (rows: [UInt64], generation: UInt64)? {
    get { findings.known }
    set { findings.known = newValue }
  }
  private var head: (rows: [UInt64], generation: UInt64)? {
    get { findings.head }
    set { findings.head = newValue }
  }
  /// The rows that an observer of the same plan knows, so that they are not kept twice; nil if there is no such observer.
  private func sharedOrder() -> RowOrder? {
    if let order = findings.order {
      if order.generation == session.generation { return order.rows }
      if let rows = order.rows, isCurrent(order.generation) { return rows }
    }
    guard let observers = session.observers, !session.isWriting, !isFrozen else { return nil }
    var found: RowOrder?
    if let (plan, inner) = enginePlan(), inner == nil { found = observers.order(of: plan) }
    findings.order = (found, session.generation)
    return found
  }

  private var unsorted: (rows: [UInt64], generation: UInt64)? {
    get { findings.unsorted }
    set { findings.unsorted = newValue }
  }
  private var counted: (count: Int, generation: UInt64)? {
    get { findings.counted }
    set { findings.counted = newValue }
  }

  init(
    _ context: ObjectContext, _ source: Source = .all, where predicate: RealmStorage.Predicate = .always,
    _ steps: [RowPlan.Step] = []
  ) {
    shared = context.ofHandles
    life = shared.counted.session.life
    birth = context.session.generation
    sharedFindings = context.isFrozen ? SharedFindings() : nil
    self.source = source
    self.predicate = predicate
    self.steps = steps
    if case .all = source, case .always = predicate, steps.isEmpty {
      isWholeTable = true
    } else {
      isWholeTable = false
    }
  }

  /// The context of the objects' class that is to be used on this thread.
  var context: ObjectContext { shared.use { $0.here }.counted }
  private var session: RealmSession { life.session.here }
  var isFrozen: Bool { sharedFindings != nil }

  /// The same plan in another session; nil if the object of the source does not exist there.
  func moved(to session: RealmSession) -> _CollectionContent? {
    guard let source = source.moved(to: session) else { return nil }
    let moved = _CollectionContent(
      session.context(shared.use { $0.binding }), source, where: predicate, steps)
    // A frozen copy shows the version that was read unless a write transaction is open, so the rows that are known are valid
    // for it.
    if session.isFrozen, !session.namesOnly, let known, !self.session.isWriting, isCurrent(known.generation) {
      moved.known = (known.rows, moved.birth)
    }
    return moved
  }

  /// Whether a result of the generation would still be found now. This is so if nothing has changed since, or only
  /// properties that the plan does not look at. A loop that takes objects by their index and changes other properties
  /// of them does therefore not search anew for each object.
  private func isCurrent(_ generation: UInt64) -> Bool {
    if generation == session.generation { return true }
    guard case .all = source, let columns = columnsRead else { return false }
    return session.isCurrent(generation, columns, of: context.binding)
  }

  /// The columns of the class that the plan looks at; nil if the plan also follows links.
  private lazy var columnsRead: [Int]? = plan(of: 0).columnsRead

  /// The objects for which another predicate is true too. The predicate is applied before sorts and distinct values, but only
  /// to objects that a limit leaves.
  func filtered(_ other: RealmStorage.Predicate) -> _CollectionContent {
    let isCut = steps.contains { step in
      switch step {
      case .limit, .offset: true
      case .sort, .distinct: false
      }
    }
    if isCut { return _CollectionContent(context, .found(self), where: other) }
    return _CollectionContent(context, source, where: predicate.and(other), steps)
  }

  /// The same plan with one more step.
  func adding(_ step: RowPlan.Step) -> _CollectionContent {
    _CollectionContent(context, source, where: predicate, plan(of: 0).adding(step).steps)
  }

  private func plan(of table: UInt32, source: RowPlan.Source = .table) -> RowPlan {
    RowPlan(table: table, source: source, predicate: predicate, steps: steps)
  }

  /// The engine's plan for these objects, and the content whose rows it searches if the source is not one of the engine's.
  /// The answer is nil for all objects of the class.
  func enginePlan() -> (plan: RowPlan, inner: _CollectionContent?)? {
    if isWholeTable { return nil }
    let table = context.binding.table?.id ?? .max
    switch source {
    case .all: return (plan(of: table), nil)
    case .found(let content): return (plan(of: table), content)
    case .collection(let owner, let position):
      let binding = owner.context.binding
      guard let schema = binding.table else { return (plan(of: table, source: .rows([])), nil) }
      let column = schema.columns[binding.columns[position]].id
      return (
        plan(of: table, source: .collection(table: schema.id, column: column, row: owner.row)), nil
      )
    case .linking(let target, let position):
      guard position >= 0, let origin = context.binding.table, let schema = target.context.binding.table
      else {
        return (plan(of: table, source: .rows([])), nil)
      }
      let column = origin.columns[context.binding.columns[position]].id
      return (plan(of: table, source: .backlinks(table: schema.id, row: target.row, column: column)), nil)
    }
  }

  private func search(_ table: Table) throws(StorageError) -> RowSearch {
    RowSearch(plan(of: table.schema.id, source: try sourceRows().map { .rows($0) } ?? .table), in: table)
  }

  /// The sort of the objects if that is the only step; nil otherwise.
  private var order: [SortKey]? {
    if steps.count == 1, case .sort(let keys) = steps[0] { keys } else { nil }
  }

  var isInvalidated: Bool {
    switch source {
    case .all: isInvalid
    case .collection(let owner, _): !owner.isThere
    case .linking(let target, let position): position < 0 || !target.isThere
    case .found(let content): content.isInvalidated
    }
  }

  /// The keys of the objects' rows, in order. O(1) if the realm has not changed since they were read.
  func rows() -> [UInt64] {
    session.check()
    if let known, isCurrent(known.generation) { return known.rows }
    // The rows that an observer keeps are not kept here too.
    if let order = sharedOrder() { return order.rows }
    let rows = reading { () throws(StorageError) in
      let rows = try readRows()
      if let counted, isCurrent(counted.generation) {
        try table()?.expect(rows.count, of: counted.count)
      }
      return rows
    }
    known = (rows, session.generation)
    (head, unsorted) = (nil, nil)
    return rows
  }

  private var isInvalid: Bool { session.isInvalid(nil, birth: birth, context.binding) }

  private func table() throws(StorageError) -> Table? { isInvalid ? nil : try context.currentTable() }

  private func readRows() throws(StorageError) -> [UInt64] {
    guard let table = try table() else { return [] }
    if let order, let unsorted, isCurrent(unsorted.generation) {
      return try table.sorted(unsorted.rows, by: order)
    }
    return try search(table).rows()
  }

  /// The key of the first object's row; nil if there is no object.
  func firstRow() -> UInt64? {
    session.check()
    if let known, isCurrent(known.generation) { return known.rows.first }
    if let order = sharedOrder() { return order.count > 0 ? order[0] : nil }
    return reading { () throws(StorageError) in
      guard let table = try table() else { return nil }
      if isWholeTable { return table.count > 0 ? try table.key(at: 0) : nil }
      if let order, let unsorted, isCurrent(unsorted.generation) {
        return try table.sorted(unsorted.rows, by: order, limit: 1).first
      }
      return try search(table).first()
    }
  }

  /// Whether there is no object. The search stops at the first object that it finds.
  var isEmpty: Bool {
    session.check()
    if let known, isCurrent(known.generation) { return known.rows.isEmpty }
    if let order = sharedOrder() { return order.count == 0 }
    if let counted, isCurrent(counted.generation) { return counted.count == 0 }
    return reading { () throws(StorageError) in
      guard let table = try table() else { return true }
      return isWholeTable ? table.count == 0 : try search(table).isEmpty()
    }
  }

  /// The index of the first object for which a condition is true; nil if there is none.
  func index(where condition: RealmStorage.Predicate) -> Int? {
    session.check()
    // Filters are applied before distinct values, and this condition after them.
    let isOrdered = steps.isEmpty || order != nil
    let known = isOrdered ? nil : rows()
    let found = reading { () throws(StorageError) -> (row: UInt64, index: Int?)? in
      guard let table = try table() else { return nil }
      let search: RowSearch
      if let known {
        search = RowSearch(
          RowPlan(table: table.schema.id, source: .rows(known), predicate: condition), in: table)
      } else {
        search = try filtered(condition).search(table)
      }
      guard let row = try search.first() else { return nil }
      return (row, isWholeTable ? try table.rank(of: row) : nil)
    }
    guard let found else { return nil }
    return found.index ?? rows().firstIndex(of: found.row)
  }

  /// The numbers of rows that a sort puts in order if an element near its beginning is asked for. The smallest number that
  /// contains the element is taken.
  private static let headCounts = [128, 1_024]
  /// If a sort has fewer elements than this multiple of the number, all of them are put in order at once.
  private static let headShare = 8

  /// The key of an element near the beginning of a sort, found without sorting the rest. The answer is nil if this short cut
  /// does not apply.
  private func rowInHead(_ index: Int) -> UInt64? {
    guard let order, case .all = source, index >= 0, known.map({ !isCurrent($0.generation) }) ?? true,
      let wanted = Self.headCounts.first(where: { index < $0 })
    else { return nil }
    if let head, isCurrent(head.generation), index < head.rows.count { return head.rows[index] }
    let rows = reading { () throws(StorageError) -> [UInt64]? in
      guard let table = try table() else { return nil }
      var rows: [UInt64]?
      if let unsorted, isCurrent(unsorted.generation) {
        rows = unsorted.rows
      } else if predicate != .always {
        rows = try table.rows(where: predicate)
      }
      // The rows that a predicate finds are kept, so that they are not searched for again.
      unsorted = rows.map { ($0, session.generation) }
      guard (rows?.count ?? table.count) / Self.headShare >= wanted else { return nil }
      guard let rows else { return try search(table).rows(first: wanted) }
      return try table.sorted(rows, by: order, limit: wanted)
    }
    guard let rows else { return nil }
    head = (rows, session.generation)
    return index < rows.count ? rows[index] : nil
  }

  /// The rows among which the plan searches; nil for all rows of the table.
  private func sourceRows() throws(StorageError) -> [UInt64]? {
    switch source {
    case .all: return nil
    case .found(let content): return content.rows()
    case .collection(let owner, let position):
      return (owner.value(position).elements ?? []).compactMap { element in
        guard case .link(let row) = element else { return nil }
        return row
      }
    case .linking(let target, let position):
      guard !target.isInvalid, let table = try target.context.currentTable(),
        let origin = context.binding.table,
        position >= 0
      else { return [] }
      let column = origin.columns[context.binding.columns[position]]
      return try table.sources(of: target.row, column: column, of: origin)
        .flatMap { Array(repeating: $0.row, count: $0.count) }
    }
  }

  var count: Int {
    session.check()
    if let known, isCurrent(known.generation) { return known.rows.count }
    if let order = sharedOrder() { return order.count }
    if let counted, isCurrent(counted.generation) { return counted.count }
    if let unsorted, isCurrent(unsorted.generation) { return unsorted.rows.count }
    if case .linking(let target, let position) = source, case .always = predicate, steps.isEmpty {
      return countLinks(target, position)
    }
    guard case .all = source else { return rows().count }
    let count = reading { () throws(StorageError) in
      guard let table = try table() else { return 0 }
      if isWholeTable { return table.count }
      return steps.isEmpty ? try table.count(where: predicate) : try search(table).count()
    }
    counted = (count, session.generation)
    return count
  }

  private func countLinks(_ target: ManagedRow, _ position: Int) -> Int {
    let count = reading { () throws(StorageError) in
      guard position >= 0, !target.isInvalid, let table = try target.context.currentTable(),
        let origin = context.binding.table
      else { return 0 }
      let column = origin.columns[context.binding.columns[position]]
      return try table.linkCount(of: target.row, column: column, of: origin)
    }
    counted = (count, session.generation)
    return count
  }

  /// The key of the row at an index. O(log n) for all rows of a table, and O(1) for rows that were read before. The first
  /// rows of a sort are found without sorting all of them. An index that is not there stops the program.
  func row(at index: Int) -> UInt64 {
    session.check()
    if isWholeTable {
      let row = reading { () throws(StorageError) -> UInt64? in
        guard let table = try table(), index >= 0, index < table.count else { return nil }
        return try table.key(at: index)
      }
      if let row { return row }
    } else if let order = sharedOrder() {
      if index >= 0, index < order.count { return order[index] }
    } else if let row = rowInHead(index) {
      return row
    } else {
      let rows = rows()
      if rows.indices.contains(index) { return rows[index] }
    }
    raise(
      "Index out of range",
      "there is no element \(index) in a collection of \(count) \(context.binding.model.name).")
  }

  func iterator<Element: RealmCollectionValue>() -> RLMIterator<Element> {
    session.check()
    // The walk reads the version's table directly, which never changes. In a transaction the table changes, so the rows are
    // read first.
    if isWholeTable, session.transaction == nil,
      let table = reading({ () throws(StorageError) in try table() })
    {
      return RLMIterator(ObjectWalk(table, context))
    }
    return RLMIterator(ObjectWalk(rows(), context))
  }

  // MARK: - Aggregates

  /// The name of a property with its class, for messages.
  func name(_ property: String) -> String { "\(context.binding.model.name).\(property)" }

  /// Calls `body` with the table, the column of a property, and the rows; the rows are nil for all rows of the table.
  ///
  /// - Parameters:
  ///   - property: the name of a property of numbers. Another type stops the program.
  ///   - other: a further type of properties for which the aggregate is defined.
  func aggregate<Result>(
    _ property: String, _ other: ColumnType? = nil,
    _ body: (Table, Int, [UInt64]?) throws(StorageError) -> Result
  ) -> Result? {
    session.check()
    let model = context.binding.model
    let position = model.position(ofNumbers: property, other)
    guard context.binding.columns[position] >= 0 || context.binding.table == nil else {
      raise("Unknown property", "\(model.name) has no property \(property) that is stored.")
    }
    let rows = isWholeTable ? nil : rows()
    return reading { () throws(StorageError) in
      guard let table = try table() else { return nil }
      return try body(table, context.binding.columns[position], rows)
    }
  }
}
