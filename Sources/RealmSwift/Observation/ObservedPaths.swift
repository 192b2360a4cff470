import RealmStorage

/// Decides which changes count as modifications of observed objects. With key paths, these are changes of the
/// properties that the paths name. Without key paths, they are changes of all objects that are at most `depth` links
/// away.
struct ObservedPaths {
  /// A key path: its properties, and how each of them leads to the next.
  struct Path {
    /// The properties of the path in their order. The first one is a property of the observed class.
    var levels: [Level]
    /// The position of the first property.
    var first: Int
  }

  /// A property of a class on the path.
  struct Level {
    var table: UInt32
    /// The position of the property's column; nil for linking objects.
    var column: Int?
    /// How the objects of the previous level lead to this one.
    var link: Link
  }

  enum Link {
    case none
    /// A column of the previous level links to this level. The column is named by its id.
    case down(source: UInt32, column: UInt16)
    /// A column of this level links to the previous level.
    case up(column: Int)
  }

  /// The key paths; nil for all properties.
  var paths: [Path]?
  var depth: Int
  let table: UInt32
  /// The tables whose changes may count; nil for all tables.
  let tables: Set<UInt32>?

  /// - Parameter keyPaths: names joined by dots; nil for all properties.
  init(_ keyPaths: [String]?, of binding: ClassBinding, _ schema: RealmSchema, depth: Int) {
    self.depth = depth
    table = binding.table?.id ?? .max
    let paths = keyPaths.map { paths in
      paths.map { Self.path($0, of: binding, schema) }
    }
    self.paths = paths
    if let paths {
      tables = Set(paths.flatMap { $0.levels.map(\.table) }).union([table])
    } else {
      tables = Self.tables(from: binding, over: depth, schema)
    }
  }

  /// The tables to which rows of a table lead over at most `depth` links, and the table itself; nil if a value of any
  /// type may lead to every table.
  private static func tables(from binding: ClassBinding, over depth: Int, _ schema: RealmSchema) -> Set<
    UInt32
  >? {
    let table = binding.table?.id ?? .max
    let family = binding.model.family
    func columns(of table: UInt32) -> [Column]? {
      (family?.binding(table: table) ?? schema.binding(table: table))?.table?.columns
    }
    var found: Set<UInt32> = [table]
    var level = [table]
    for _ in 0..<depth {
      var next: [UInt32] = []
      for column in level.compactMap(columns).joined() {
        if column.type == .mixed { return nil }
        if column.type == .link, found.insert(column.target).inserted { next.append(column.target) }
      }
      level = next
    }
    return found
  }

  private static func path(_ keyPath: String, of binding: ClassBinding, _ schema: RealmSchema) -> Path {
    var binding = binding
    var levels: [Level] = []
    var link = Link.none
    let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var first: Int?
    for (place, name) in names.enumerated() {
      guard let position = binding.model.position(of: name) else {
        let known = binding.model.properties.map(\.name).joined(separator: ", ")
        raise(
          "Unknown key path",
          "'\(keyPath)' can't be observed: \(binding.model.name) has no property '\(name)'; it has \(known).")
      }
      first = first ?? position
      let property = binding.model.properties[position]
      let column = binding.columns[position]
      levels.append(Level(table: binding.table?.id ?? .max, column: column >= 0 ? column : nil, link: link))
      guard let next = target(of: property, in: binding.model, schema) else {
        if place == names.count - 1 { break }
        raise(
          "Unknown key path",
          "'\(keyPath)' can't be observed: \(binding.model.name).\(name) leads to no object.")
      }
      if case .linkingObjects(let origin) = property.type.form {
        let position = next.model.position(of: origin) ?? 0
        link = .up(column: next.columns[position])
        // If a path ends in linking objects, the links themselves count.
        if place == names.count - 1 {
          levels.append(Level(table: next.table?.id ?? .max, column: next.columns[position], link: link))
        }
      } else if let table = binding.table, column >= 0 {
        link = .down(source: table.id, column: table.columns[column].id)
      }
      binding = next
    }
    return Path(levels: levels, first: first ?? 0)
  }

  /// The class that a property leads to.
  private static func target(
    of property: ModelProperty, in model: ObjectModel, _ schema: RealmSchema
  ) -> ClassBinding? {
    if let family = model.family { return property.target.flatMap { family.binding(named: $0.name) } }
    return property.type.target.flatMap { schema.find($0) }
  }

  /// Whether every change within the default depth counts as a modification.
  var isDefault: Bool { paths == nil && depth == defaultDepth }

  /// Whether a key path goes through linking objects. The objects that linked before a change can only be found while
  /// both versions exist.
  var goesUp: Bool {
    paths?.contains { path in path.levels.contains { if case .up = $0.link { true } else { false } } }
      ?? false
  }

  // MARK: - What changed

  /// Returns the objects of the observed class that count as modified.
  ///
  /// - Parameter old: the version before the changes; nil if it does not exist any more.
  func modified(_ changes: ChangesToTell, old: Snapshot? = nil) throws(StorageError) -> RowSet {
    guard let paths else {
      guard depth > 0 else { return RowSet(Set(changes.tables[table]?.modifications.map(\.key) ?? [])) }
      return try changes.leading(to: table, over: depth)
    }
    var modified: Set<UInt64> = []
    for path in paths { modified.formUnion(try self.modified(path, changes, old)) }
    return RowSet(modified)
  }

  func modified(_ path: Path, _ changes: ChangesToTell, _ old: Snapshot?) throws(StorageError) -> Set<UInt64>
  {
    var modified: Set<UInt64> = []
    for (place, level) in path.levels.enumerated() {
      var rows: Set<UInt64> = []
      if let column = level.column, let changed = changes.tables[level.table] {
        for change in changed.modifications where change.columns.contains(column) { rows.insert(change.key) }
      }
      var link = level.link
      var up = place
      // The set of linking objects changes with the rows that link.
      if case .up = link, let changed = changes.tables[level.table] {
        rows.formUnion(changed.insertions)
        rows.formUnion(changed.deletions)
        for change in changed.modifications where isLink(link, among: change.columns) {
          rows.insert(change.key)
        }
      }
      while up > 0, !rows.isEmpty {
        switch link {
        case .none: break
        case .down(let source, let column):
          rows = try changes.rows(of: source, linkingBy: column, to: rows, of: path.levels[up].table)
        case .up(let column):
          rows = try changes.targets(of: rows, column, of: path.levels[up].table, old)
        }
        up -= 1
        link = path.levels[up].link
      }
      modified.formUnion(rows)
    }
    return modified
  }

  private func isLink(_ link: Link, among columns: [Int]) -> Bool {
    if case .up(let column) = link { columns.contains(column) } else { false }
  }
}

/// The changes between the version that observers were told of last and the one that they are told of now.
final class ChangesToTell {
  let tables: [UInt32: TableChanges]
  let version: Snapshot
  private var reach: LinkReach
  private var known: [Int: [UInt32: RowSet]] = [:]
  private let watched: Set<UInt32>
  private var places: [ObjectIdentifier: [Int]] = [:]
  /// The positions of the modified rows of a table among all of its rows, by the id of the table. They are for
  /// observers that watch whole tables.
  var tablePlaces: [UInt32: [Int]] = [:]

  /// - Parameter watched: the tables whose rows may be asked for.
  init(
    _ tables: [UInt32: TableChanges], in version: Snapshot, _ watched: Set<UInt32>
  ) throws(StorageError) {
    self.tables = tables
    self.version = version
    self.watched = watched
    reach = LinkReach(version, try version.schemas())
  }

  /// The rows of a table that changed, or that lead to a changed row over at most `depth` links.
  func leading(to table: UInt32, over depth: Int) throws(StorageError) -> RowSet {
    if let found = known[depth] { return found[table] ?? RowSet([]) }
    let base = tables.mapValues { $0.modifications.map(\.key) }.filter { !$0.value.isEmpty }
    let found: [UInt32: RowSet]
    do throws(StorageError) {
      found = try reach.rows(leadingTo: base, over: depth, of: watched)
    } catch {
      // The damage may be in a table that does not lead to this one.
      return try reach.rows(leadingTo: base, over: depth, of: [table])[table] ?? RowSet([])
    }
    known[depth] = found
    return found[table] ?? RowSet([])
  }

  /// The positions of modified rows in an order. With the default depth, they are found once for all observers of the
  /// same rows.
  func positions(of rows: RowSet, in live: LiveRows, isDefault: Bool) throws(StorageError) -> [Int] {
    if isDefault, let found = places[ObjectIdentifier(live)] { return found }
    let found = try live.positions(of: rows, in: version)
    if isDefault { places[ObjectIdentifier(live)] = found }
    return found
  }

  func rows(
    of source: UInt32, linkingBy column: UInt16, to rows: Set<UInt64>, of table: UInt32
  ) throws(StorageError) -> Set<UInt64> {
    try reach.rows(of: source, linkingBy: column, to: rows, of: table)
  }

  /// The rows that some rows link to by a column, in both versions if the older one is given.
  func targets(
    of rows: Set<UInt64>, _ column: Int, of table: UInt32, _ old: Snapshot?
  ) throws(StorageError) -> Set<UInt64> {
    var found: Set<UInt64> = []
    let versions = old.map { [$0, version] } ?? [version]
    for version in versions {
      let table = try version.table(ofID: table)
      for row in rows {
        guard let value = try table.value(table.schema.columns[column], ofRow: row) else { continue }
        if case .link(let target) = value { found.insert(target) }
        for element in value.elements ?? [] { if case .link(let target) = element { found.insert(target) } }
      }
    }
    return found
  }
}
