/// Dropped columns and tables. Later commits give their space back.
extension OpenTables {
  /// Gives back a part of the space of dropped columns and tables. Nodes that can't be read stay.
  ///
  /// - Parameter most: the approximate number of bytes to write for it.
  func giveBack(_ most: Int) throws(StorageError) {
    guard hasDropped, failure == nil else { return }
    try completeRecording()
    var budget = most
    while budget > 0 {
      guard let schema = allSchemas.filter({ $0.hasDropped }).min(by: { $0.id < $1.id }),
        let table = try writer(ofAny: schema.id)
      else {
        hasDropped = false
        return
      }
      do throws(StorageError) {
        try table.checkNextDropped()
      } catch {
        // Nothing else reads the damaged nodes of dropped columns and tables. So commits continue, and leave them in
        // the file.
        guard error.isDamage else { throw error }
        hasDropped = false
        return
      }
      do throws(StorageError) { try table.giveBack(&budget) } catch { throw fail(error) }
    }
  }

  /// Drops a table. Later commits give back the space of its rows.
  ///
  /// - Precondition: no column of another table links to it.
  func dropTable(_ table: TableWriter) throws(StorageError) {
    do throws(StorageError) { try table.beginDropping() } catch { throw fail(error) }
  }
}
