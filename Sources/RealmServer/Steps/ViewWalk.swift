import RealmStorage
import RealmSync

/// Writes into a step the objects that enter or leave the client's view because the view has changed. It leaves out the
/// objects that were changed since the client's version, which `StepBuilder` tells.
///
/// It reads one version, and can be continued from where it was, whatever is written meanwhile.
struct ViewWalk {
  private let old: View
  private let new: View
  private let settings: ServerState.Settings
  private let reading: ObjectReading
  /// The objects that `StepBuilder` has handled.
  private let told: Set<ObjectName>
  /// The tables that are left. The walk goes through the first of them.
  private var tables: [Table]
  /// The position in the first table of the row that is looked at next.
  private var position = 0
  /// Writes the objects of the first table as bytes; nil if these objects are told one by one.
  private var creations: CreationWriter?
  /// The number of rows that `creations` looks at together. It is small where values are long, because objects with
  /// long values are told one by one.
  private var together = ViewWalk.leastTogether
  private static let leastTogether = 16
  private static let mostTogether = 512

  /// The rows of a table that has fewer rows than this are told one by one, so that small tables come in one part.
  private static let leastRows = 256
  /// The number of parts that a turn makes. It makes a few more if objects are long.
  private static let mostParts = 4

  /// - Parameter snapshot: the version that the step leads to.
  init(
    _ old: View, _ new: View, _ settings: ServerState.Settings, told: Set<ObjectName>, _ snapshot: Snapshot
  ) throws(StorageError) {
    (self.old, self.new, self.settings, self.told) = (old, new, settings, told)
    reading = try ObjectReading(snapshot)
    tables = []
    for schema in try snapshot.schemas() where !schema.isEmbedded && schema.primaryKey != nil {
      guard !old.shows(sameAs: new, of: schema.name), let table = try snapshot.table(schema.name) else {
        continue
      }
      tables.append(table)
    }
    begin()
  }

  /// The number of rows that are left.
  var remaining: Int { tables.reduce(-position) { $0 + $1.count } }

  /// Looks at about `rows` rows at most, and tells their objects.
  ///
  /// - Parameter send: receives the parts that are complete.
  /// - Returns: whether no rows are left.
  mutating func go(
    _ rows: Int, _ writer: inout StepWriter, _ send: (Step) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    var left = rows
    // Objects may be long, so a turn makes only a few parts.
    let last = rows == .max ? Int.max : writer.parts + Self.mostParts
    while let table = tables.first {
      guard position < table.count else {
        try sendCreations(&writer, send)
        tables.removeFirst()
        position = 0
        begin()
        continue
      }
      guard left > 0, writer.parts < last else { return false }
      if writer.isFull { try send(writer.cut(remaining: remaining)) }
      if creations != nil {
        left -= try create(table, most: left, &writer, send)
        if let bytes = creations?.bytes, writer.isFull(bytes) { try sendCreations(&writer, send) }
      } else {
        try tell(table, try table.key(at: position), &writer)
        position += 1
        left -= 1
      }
    }
    return true
  }

  private mutating func begin() {
    creations = nil
    guard let table = tables.first, table.count >= Self.leastRows else { return }
    // Objects that the client has already, or that leave its view, have to be told one by one.
    if old.showsNothing(of: table.schema.name) { creations = CreationWriter(table) }
  }

  private mutating func sendCreations(
    _ writer: inout StepWriter, _ send: (Step) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard creations?.count ?? 0 > 0, let part = creations?.finish() else { return }
    // The definitions have to be in the first part, so the current part is sent before these objects.
    if !writer.step.schema.isEmpty {
      try send(writer.cut(remaining: remaining + part.count, before: part))
    }
    try send(writer.part(part, remaining: remaining))
  }

  /// - Returns: the number of rows that were looked at.
  private mutating func create(
    _ table: Table, most: Int, _ writer: inout StepWriter, _ send: (Step) throws(StorageError) -> Void
  ) throws(StorageError) -> Int {
    let name = table.schema.name
    let (view, settings, told) = (new, settings, told)
    let isAll = view.showsAll(of: name) && told.isEmpty
    let fields = settings.fields(of: name).map { field in
      table.schema.columns.firstIndex { !$0.isCompanion && $0.name.utf8.elementsEqual(field.utf8) }
    }
    let found = try creations?.add(
      from: position, most: min(most, together), fields: fields,
      where: isAll
        ? nil
        : { key, values in
          !told.contains(ObjectName(name, key)) && view.shows(values, of: name, settings)
        })
    guard let found else { return 0 }
    position += found.looked
    together = found.apart.isEmpty ? min(2 * together, Self.mostTogether) : Self.leastTogether
    for (place, key) in found.apart.enumerated() {
      // The values of these objects are long, so a few objects fill a part.
      if writer.isFull { try send(writer.cut(remaining: remaining + found.apart.count - place)) }
      let name = ObjectName(name, key)
      if let content = try reading.content(of: name) { tell(name, content, &writer) }
    }
    return found.looked
  }

  private func tell(_ table: Table, _ row: UInt64, _ writer: inout StepWriter) throws(StorageError) {
    guard let column = table.schema.primaryKey, let key = try table.value(column, ofRow: row) else { return }
    let name = ObjectName(table.schema.name, key)
    guard !told.contains(name) else { return }
    let values = try reading.values(of: settings.fields(of: name.table), in: name)
    let was = old.shows(values, of: name.table, settings)
    guard new.shows(values, of: name.table, settings) else {
      if was { writer.tell(name, .left) }
      return
    }
    if !was, let content = try reading.content(of: name) { tell(name, content, &writer) }
  }

  private func tell(_ name: ObjectName, _ content: [Instruction], _ writer: inout StepWriter) {
    writer.tell(name, .whole(content.map { $0.mapReplicas { writer.index($0) } }))
  }
}
