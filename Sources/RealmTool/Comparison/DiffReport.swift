import RealmInterchange
import RealmStorage

/// Writes and counts the differences of two files.
final class DiffReport {
  private struct Counts {
    let name: String
    var added = 0
    var removed = 0
    var changed = 0
  }

  private let names: (old: TableNames, new: TableNames)
  private let json: Bool
  /// Whether differences of objects are only counted, and not written.
  private let isBrief: Bool
  /// Whether nothing is written.
  private let isSilent: Bool
  private var tables: [Counts] = []
  private var trees: [Counts] = []
  /// The error of the line that could not be written.
  private var failure: OutputError?
  private(set) var isEqual = true

  init(_ old: TableNames, _ new: TableNames, json: Bool, isBrief: Bool, isSilent: Bool) {
    names = (old, new)
    self.json = json
    self.isBrief = isBrief
    self.isSilent = isSilent
  }

  /// Whether more differences can change the result or the output.
  var wantsMore: Bool { failure == nil && (isEqual || !isSilent) }

  // MARK: - Differences

  func tell(_ difference: SchemaDifference) throws {
    isEqual = false
    guard !isSilent else { return }
    try Output.line(json ? jsonLine(difference) : "schema: " + textLine(difference))
  }

  /// Takes a difference of a row.
  ///
  /// - Returns: whether more differences are wanted.
  func tell(_ difference: RowDifference) -> Bool {
    count(difference.kind, of: difference.table, in: &tables)
    if !isSilent, !isBrief { put(json ? jsonLine(difference) : textLine(difference)) }
    return wantsMore
  }

  /// Takes a difference of an entry of a named tree.
  ///
  /// - Returns: whether more differences are wanted.
  func tell(_ difference: TreeDifference) -> Bool {
    count(difference.kind, of: difference.tree, in: &trees)
    if !isSilent, !isBrief { put(json ? jsonLine(difference) : textLine(difference)) }
    return wantsMore
  }

  private func put(_ line: String) {
    do { try Output.line(line) } catch { failure = error }
  }

  private func count(_ kind: RowDifference.Kind, of name: String, in all: inout [Counts]) {
    isEqual = false
    if all.last.map({ $0.name.utf8.elementsEqual(name.utf8) }) != true { all.append(Counts(name: name)) }
    switch kind {
    case .added: all[all.count - 1].added += 1
    case .removed: all[all.count - 1].removed += 1
    case .changed: all[all.count - 1].changed += 1
    }
  }

  // MARK: - The end

  /// Writes the counts, or whether the sides are equal.
  func finish() throws {
    if let failure { throw failure }
    guard !isSilent else { return }
    if json {
      let members = [
        ("equal", JSON.bool(isEqual)), ("tables", Self.json(tables, "table")),
        ("trees", Self.json(trees, "tree")),
      ]
      return try Output.line(JSON.object(members))
    }
    if isEqual { return try Output.line("No differences.") }
    for counts in tables { try Output.line("\(counts.name): \(Self.text(counts))") }
    for counts in trees { try Output.line("tree \(counts.name): \(Self.text(counts))") }
  }

  private static func text(_ counts: Counts) -> String {
    "\(counts.added) added, \(counts.removed) removed, \(counts.changed) changed"
  }

  private static func json(_ all: [Counts], _ member: String) -> String {
    JSON.array(
      all.map {
        JSON.object([
          (member, JSON.string($0.name)), ("added", "\($0.added)"), ("removed", "\($0.removed)"),
          ("changed", "\($0.changed)"),
        ])
      })
  }

  // MARK: - Schemas

  private func textLine(_ difference: SchemaDifference) -> String {
    let table = difference.table
    return switch difference.change {
    case .tableAdded: "+ table \(table)"
    case .tableRemoved: "- table \(table)"
    case .embedding(let isNow): "~ table \(table): \(isNow ? "embedded now" : "embedded no more")"
    case .columnAdded(let column): "+ \(table).\(column.name): \(names.new.words(column))"
    case .columnRemoved(let column): "- \(table).\(column.name): \(names.old.words(column))"
    case .columnChanged(let old, let new):
      "~ \(table).\(new.name): \(names.old.words(old)) → \(names.new.words(new))"
    }
  }

  private func jsonLine(_ difference: SchemaDifference) -> String {
    var members: [(String, String)] = []
    func add(_ change: String, _ old: Column? = nil, _ new: Column? = nil) {
      members = [("schema", JSON.string(change)), ("table", JSON.string(difference.table))]
      if let column = new ?? old { members.append(("column", JSON.string(column.name))) }
      if let old { members.append(("old", names.old.json(old))) }
      if let new { members.append(("new", names.new.json(new))) }
    }
    switch difference.change {
    case .tableAdded: add("tableAdded")
    case .tableRemoved: add("tableRemoved")
    case .embedding(let isNow): add(isNow ? "tableEmbedded" : "tableEmbeddedNoMore")
    case .columnAdded(let column): add("columnAdded", nil, column)
    case .columnRemoved(let column): add("columnRemoved", column)
    case .columnChanged(let old, let new): add("columnChanged", old, new)
    }
    return JSON.object(members)
  }

  // MARK: - Rows

  private func textLine(_ difference: RowDifference) -> String {
    let sign = Self.sign(difference.kind)
    let (identity, isTelling): (String, Bool) =
      switch difference.identity {
      case .primaryKey(let key): (key.shortText, false)
      case .row(let key): ("row \(key)", true)
      }
    let start = "\(sign) \(difference.table) \(identity)"
    switch difference.kind {
    case .changed:
      return start + ": "
        + difference.cells.map { $0.new?.changeText($0.column.name, from: $0.old) ?? "" }.joined(
          separator: ", ")
    case .added, .removed:
      // The key of a row says little about the object, so its values are shown, too.
      guard isTelling, !difference.cells.isEmpty else { return start }
      return start + ": "
        + difference.cells.map { "\($0.column.name) \(($0.new ?? $0.old)?.text ?? "")" }.joined(
          separator: ", ")
    }
  }

  private static func sign(_ kind: RowDifference.Kind) -> String {
    switch kind {
    case .added: "+"
    case .removed: "-"
    case .changed: "~"
    }
  }

  private func jsonLine(_ difference: RowDifference) -> String {
    var members = [
      ("table", JSON.string(difference.table)), ("change", JSON.string(difference.kind.rawValue)),
    ]
    switch difference.identity {
    case .primaryKey(let key): members.append(("primaryKey", key.jsonOfKey))
    case .row(let key): members.append(("key", JSON.integer(key)))
    }
    let values = difference.cells.map { cell in
      var members = [("column", JSON.string(cell.column.name))]
      if let old = cell.old { members.append(("old", old.json(of: cell.column))) }
      if let new = cell.new { members.append(("new", new.json(of: cell.column))) }
      return JSON.object(members)
    }
    members.append(("values", JSON.array(values)))
    return JSON.object(members)
  }

  // MARK: - Trees

  private func textLine(_ difference: TreeDifference) -> String {
    let key = EntryLine.text(difference.key)
    return "\(Self.sign(difference.kind)) tree \(difference.tree) \(key)"
  }

  private func jsonLine(_ difference: TreeDifference) -> String {
    var members = [
      ("tree", JSON.string(difference.tree)), ("change", JSON.string(difference.kind.rawValue)),
      ("key", JSON.bytes(difference.key)),
    ]
    if let old = difference.old { members.append(("old", JSON.bytes(old))) }
    if let new = difference.new { members.append(("new", JSON.bytes(new))) }
    return JSON.object(members)
  }
}

extension TreeDifference {
  fileprivate var kind: RowDifference.Kind { old == nil ? .added : new == nil ? .removed : .changed }
}
