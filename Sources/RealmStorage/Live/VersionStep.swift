/// The step from one version of a file to a later one. All observers of the step share it, so that each table is
/// compared only once.
package final class VersionStep {
  package let old: Snapshot
  package let new: Snapshot
  private var known: [UInt32: TableChanges] = [:]
  private var knownSchemas: [TableSchema]?

  package init(from old: Snapshot, to new: Snapshot) { (self.old, self.new) = (old, new) }

  package func schemas() throws(StorageError) -> [TableSchema] {
    if let knownSchemas { return knownSchemas }
    let schemas = try new.schemas()
    knownSchemas = schemas
    return schemas
  }

  /// The changes of the table with an id. They are empty if the newer version does not have the table.
  package func changes(of table: UInt32) throws(StorageError) -> TableChanges {
    if let found = known[table] { return found }
    var changes = TableChanges()
    if let schema = try schemas().first(where: { $0.id == table }) {
      changes = try new.changes(inTable: schema.name, since: old)
    }
    known[table] = changes
    return changes
  }
}

extension Snapshot {
  /// The table with an id.
  package func table(ofID id: UInt32) throws(StorageError) -> Table {
    let form = try form(ofTable: id)
    return Table(schema: form.schema, root: form.root, reader: self)
  }
}
