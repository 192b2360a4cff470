/// The schema and the root of a table, which queries need.
package struct TableForm {
  var schema: TableSchema
  var root: TableRoot

  init(_ schema: TableSchema, _ root: TableRoot) {
    self.schema = schema
    self.root = root
  }
}

/// Finds the tables to which links lead.
package protocol TableFinder {
  /// The table of an id, in the version that is read.
  ///
  /// - Throws: `.corrupted` when there is none.
  func form(ofTable id: UInt32) throws(StorageError) -> TableForm
}
