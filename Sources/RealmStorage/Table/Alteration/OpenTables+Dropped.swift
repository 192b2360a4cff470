/// Dropped columns and tables, whose space later commits give back.
extension OpenTables {
  /// Gives a little of the space of dropped columns and tables back. What can't be read stays.
  ///
  /// - Parameter most: about so many bytes are written for it.
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
        // Nobody reads what is damaged here: commits go on, and leave it where it is.
        guard error.isDamage else { throw error }
        hasDropped = false
        return
      }
      do throws(StorageError) { try table.giveBack(&budget) } catch { throw fail(error) }
    }
  }

  /// Takes a table away. What its rows held is given back by later commits.
  ///
  /// - Precondition: no column of another table links to it.
  func dropTable(_ table: TableWriter) throws(StorageError) {
    do throws(StorageError) { try table.beginDropping() } catch { throw fail(error) }
  }
}
