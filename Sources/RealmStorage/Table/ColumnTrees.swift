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
    get { view[column] }
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

  /// The same to read, without counting references.
  var view: View { @_lifetime(borrow self) get { View(all.span) } }

  struct View: ~Escapable, BitwiseCopyable {
    let all: Span<Entry>

    @_lifetime(copy all)
    fileprivate init(_ all: Span<Entry>) { self.all = all }

    /// Null for a column that has none.
    subscript(column: UInt16) -> Ref {
      for index in all.indices where all[index].column == column { return all[index].root }
      return .null
    }
  }
}
