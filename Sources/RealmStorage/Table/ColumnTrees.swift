/// Trees of some columns of a table, by the columns' ids.
struct ColumnTrees: Equatable {
  /// Growing by column; none is null.
  private(set) var all: [Entry] = []

  struct Entry: Equatable {
    var column: UInt16
    var root: Ref
  }

  /// Null for a column that has none.
  subscript(column: UInt16) -> Ref {
    get {
      let place = place(of: column)
      return place < all.count && all[place].column == column ? all[place].root : .null
    }
    set {
      let place = place(of: column)
      let isThere = place < all.count && all[place].column == column
      let entries = newValue.isNull ? [] : [Entry(column: column, root: newValue)]
      all.replaceSubrange(place..<place + (isThere ? 1 : 0), with: entries)
    }
  }

  private func place(of column: UInt16) -> Int {
    var (low, high) = (0, all.count)
    while low < high {
      let middle = (low + high) / 2
      if all[middle].column < column { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
