/// Reads objects of a version in the form of instructions, whatever is written meanwhile.
///
/// Only one thread may use it. It keeps the version for as long as it exists.
package final class ObjectReading {
  package let snapshot: Snapshot
  private let tables: OpenTables

  /// - Throws: `.corrupted`.
  package init(_ snapshot: Snapshot) throws(StorageError) {
    self.snapshot = snapshot
    let database = snapshot.database
    let access = snapshot.access()
    // Nothing is made with this arena, so it takes no memory for nodes.
    let arena = NodeArena(refWidth: database.store.refWidth, capacity: 0)
    let editor = NodeEditor(store: database.store, arena: arena)
    editor.extend(to: snapshot.base.end)
    let catalogue = try Catalogue(snapshot.base.root, access)
    tables = OpenTables(
      catalogue: catalogue, schemas: try database.schemas(catalogue, access),
      clusterRows: ClusterNode.maximumRows, givenNestedIDs: GivenNestedIDs(), editor: editor)
  }

  /// The object's values of properties that have a single value each (`EditedObject.values`); nil if the object does
  /// not exist.
  ///
  /// - Throws: `.instructionDoesNotFit` if the table does not exist or can't have the key; `.corrupted`.
  package func values(of properties: [String], in name: ObjectName) throws(StorageError) -> [Value]? {
    try object(name).values(of: properties)
  }

  /// The instructions that make the object with its whole content; nil if it does not exist. Takes time in proportion
  /// to the content.
  ///
  /// - Throws: The errors of `values`.
  package func content(of name: ObjectName) throws(StorageError) -> [Instruction]? {
    try object(name).content()
  }

  private func object(_ name: ObjectName) throws(StorageError) -> EditedObject {
    try EditedObject(name, ObjectEditor(tables: tables))
  }
}
