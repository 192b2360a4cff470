/// A source from which tables are read: a snapshot, or a transaction with its own changes.
package protocol TableReader: NodeReader, TableFinder {}

extension Snapshot: TableReader {
  package func form(ofTable id: UInt32) throws(StorageError) -> TableForm {
    let access = access()
    let catalogue = try Catalogue(root, access)
    guard let schema = try database.schemas(catalogue, access).first(where: { $0.id == id }) else {
      throw access.corrupted(.structure, catalogue.schema)
    }
    return TableForm(schema, try Tables.root(of: id, catalogue, access))
  }
}

extension WriteTransaction: TableReader {
  package func form(ofTable id: UInt32) throws(StorageError) -> TableForm {
    guard let writer = try tables().writer(id: id) else { throw access().corrupted(.structure, base.root) }
    return TableForm(writer.schema, try writer.flushed())
  }
}
