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
      if isThere, !newValue.isNull {
        if all[place].root != newValue { all[place].root = newValue }
        return
      }
      let entries = newValue.isNull ? [] : [Entry(column: column, root: newValue)]
      all.replaceSubrange(place..<place + (isThere ? 1 : 0), with: entries)
    }
  }

  /// Replaces the roots of all of them; the new ones are not null.
  mutating func changeRoots(_ change: (Ref) -> Ref) {
    for place in all.indices { all[place].root = change(all[place].root) }
  }

  private func place(of column: UInt16) -> Int {
    all.partitioningIndex { $0.column >= column }
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
