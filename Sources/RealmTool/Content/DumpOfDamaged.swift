import ArgumentParser
import RealmInterchange
import RealmStorage

extension Dump {
  /// Writes everything that can be read, and then what is lost.
  func dumpWhatIsWhole() throws {
    let salvage = try Salvage(options.openNewest())
    let lost = Set(salvage.losses.map(\.what))
    let tables = try chosen(
      salvage.tables, table, "table", isComplete: lost.isDisjoint(with: [.tables, .everything])
    ) { $0.schema.name }
    let trees = try chosen(
      salvage.trees, tree, "tree", isComplete: lost.isDisjoint(with: [.trees, .everything])
    ) { $0.name }
    let work = DumpWork(limit: limit)
    for table in tables { work.add(table.count) }
    for tree in trees { work.add(tree.count) }
    defer { work.finish() }
    let names = TableNames(salvage.tables.map(\.schema))
    if json { for table in tables { try Output.line(names.json(table.schema)) } }
    for table in tables { try dump(table, of: salvage, names, work) }
    for tree in trees { try dump(tree, of: salvage, work) }
    work.finish()
    try tell(losses(of: salvage))
  }

  private func dump(
    _ table: Salvage.SalvagedTable, of salvage: Salvage, _ names: TableNames, _ work: DumpWork
  ) throws {
    guard work.begin() else { return }
    let line = RowLine(table.schema, names, json: json)
    try salvage.forEachRow(of: table) { key, values in work.put { line.write(key, values, to: &$0) } }
    try work.end()
  }

  private func dump(_ tree: Salvage.SalvagedTree, of salvage: Salvage, _ work: DumpWork) throws {
    guard work.begin() else { return }
    let line = EntryLine(tree: tree.name, json: json)
    try salvage.forEachEntry(of: tree) { key, value in work.put { line.write(key, value, to: &$0) } }
    try work.end()
  }

  /// The losses in the parts that the options choose. Losses of the catalogue are always among them, because nobody
  /// knows what it held.
  private func losses(of salvage: Salvage) -> [Loss] {
    guard table != nil || tree != nil else { return salvage.losses }
    return salvage.losses.filter { loss in
      switch loss.part.role {
      case .catalogue, .slot: true
      case .tree: tree?.utf8.elementsEqual(loss.part.name.utf8) ?? false
      case .table, .column, .index, .links, .absentLinks:
        table?.utf8.elementsEqual(loss.part.name.utf8) ?? false
      }
    }
  }

  private func tell(_ losses: [Loss]) throws {
    try Output.telling(losses.isEmpty ? "" : "Damage was found.") {
      if json { try Output.line(JSON.object([("lost", JSON.array(losses.map(\.json)))])) }
    }
    for loss in losses { Output.complain("LOST: \(loss)") }
    guard losses.isEmpty else { throw ExitCode(1) }
  }
}

extension Loss {
  /// The loss in the form that docs/dump-format.md describes.
  fileprivate var json: String {
    var members = [("what", JSON.string(what.rawValue)), ("count", count.map(JSON.integer) ?? "null")]
    switch part.role {
    case .catalogue, .slot: break
    case .tree: members.append(("tree", JSON.string(part.name)))
    case .table, .column, .index, .links, .absentLinks: members.append(("table", JSON.string(part.name)))
    }
    if let column = part.column { members.append(("column", JSON.string(column))) }
    switch keys {
    case .unknown: break
    case .rows(let keys):
      members += [("from", JSON.integer(keys.lowerBound)), ("below", JSON.integer(keys.upperBound))]
    case .entries(let from, let below):
      members += [("from", JSON.bytes(from)), ("below", below.map(JSON.bytes) ?? "null")]
    }
    members += [
      ("node", JSON.string(damage.nodeKind)), ("offset", damage.offset.map(JSON.integer) ?? "null"),
      ("length", "\(damage.length)"), ("birth", JSON.integer(damage.birth)),
      ("finding", JSON.string("\(damage.finding)")),
    ]
    return JSON.object(members)
  }
}
