/// Reads objects of a version as instructions tell them, whatever is written meanwhile.
///
/// Used by one thread. The version is held for as long as this is.
package final class ObjectReading {
  package let snapshot: Snapshot
  private let tables: OpenTables

  /// - Throws: `.corrupted`.
  package init(_ snapshot: Snapshot) throws(StorageError) {
    self.snapshot = snapshot
    let database = snapshot.database
    let access = snapshot.access()
    // Nothing is made with it, so it takes no memory for nodes.
    let arena = NodeArena(refWidth: database.store.refWidth, capacity: 0)
    let editor = NodeEditor(store: database.store, arena: arena)
    editor.extend(to: snapshot.base.end)
    let catalogue = try Catalogue(snapshot.base.root, access)
    tables = OpenTables(
      catalogue: catalogue, schemas: try database.schemas(catalogue, access),
      clusterRows: ClusterNode.maximumRows, givenNestedIDs: GivenNestedIDs(), editor: editor)
  }

  /// What the object has in properties of a single value each (`EditedObject.values`). Nil where there is no object.
  ///
  /// - Throws: `.instructionDoesNotFit` where there is no such table, or the key is none of its keys; `.corrupted`.
  package func values(of properties: [String], in name: ObjectName) throws(StorageError) -> [Value]? {
    try object(name).values(of: properties)
  }

  /// The instructions that make the object with all that it has; nil where there is none. Takes time in proportion to it.
  ///
  /// - Throws: what `values` throws.
  package func content(of name: ObjectName) throws(StorageError) -> [Instruction]? {
    try object(name).content()
  }

  private func object(_ name: ObjectName) throws(StorageError) -> EditedObject {
    try EditedObject(name, ObjectEditor(tables: tables))
  }
}
