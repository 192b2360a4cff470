/// Turns the content of objects into instructions, which name objects by their primary keys, properties by their names,
/// and list elements by their ids.
class ObjectTeller {
  /// The primary keys of rows. They never change, and to read a key costs more than to keep it.
  private var keys: [LinkTarget: Value] = [:]
  /// The places of embedded rows. An embedded row stays at its place until it is removed.
  private(set) var owned: [LinkTarget: Place] = [:]
  private static let mostKept = 1 << 14

  /// A place in an object: a property, or an embedded object.
  struct Place {
    var object: ChangesetMaker.SyncedObject
    var path: InstructionPath?

    func property(_ name: String) -> InstructionPath {
      path.map { InstructionPath($0.property, $0.steps + [.property(name)]) } ?? InstructionPath(name)
    }
  }

  /// The name of the object that stands in a row.
  ///
  /// - Throws: `.corrupted` if there is no such row.
  func name(_ row: LinkTarget, _ tables: OpenTables) throws(StorageError) -> ObjectName {
    guard let table = try tables.writer(id: row.table) else {
      throw tables.editor.store.corrupted(.link, .null)
    }
    if let key = keys[row] { return ObjectName(table.schema.name, key) }
    guard let key = try table.primaryKey(ofRow: row.row) else {
      throw tables.editor.store.corrupted(.link, table.root.clusters)
    }
    keep(key, of: row)
    return ObjectName(table.schema.name, key)
  }

  private func keep(_ key: Value, of row: LinkTarget) {
    if keys.count >= Self.mostKept { keys.removeAll(keepingCapacity: true) }
    keys[row] = key
  }

  func keep(_ place: Place, of row: LinkTarget) {
    if owned.count >= Self.mostKept { owned.removeAll(keepingCapacity: true) }
    owned[row] = place
  }
}
