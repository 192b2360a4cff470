/// What was taken away of tables, and is still there.
extension OpenTables {
  /// Gives a little of what was dropped back, in the first tables that have something of it. Where that can't be read, it stays.
  ///
  /// - Parameter most: so many bytes are written for it, about.
  func giveBack(_ most: Int) throws(StorageError) {
    guard hasDropped, failure == nil else { return }
    var budget = most
    while budget > 0 {
      guard let schema = allSchemas.filter({ $0.hasDropped }).min(by: { $0.id < $1.id }),
        let table = try writer(ofAny: schema.id)
      else {
        hasDropped = false
        return
      }
      // Damage in what nobody reads does not stand in the way of others: what is dropped stays then.
      if let damage = try table.damageInNextDropped() {
        guard damage.isDamage else { throw damage }
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
