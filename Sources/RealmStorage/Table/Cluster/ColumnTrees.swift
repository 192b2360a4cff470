/// The trees of a table that are found by ids: its indexes by their own ids, or its dictionaries by the ids of their
/// columns.
struct ColumnTrees: Equatable {
  /// All entries, in ascending order of the ids. No root is null.
  private(set) var all: [Entry] = []

  struct Entry: Equatable {
    var id: UInt16
    var root: Ref
  }

  /// The root of the tree with an id; null if there is none. A null root removes the entry.
  subscript(id: UInt16) -> Ref {
    get { view[id] }
    set {
      let place = place(of: id)
      let isThere = place < all.count && all[place].id == id
      if isThere, !newValue.isNull {
        if all[place].root != newValue { all[place].root = newValue }
        return
      }
      let entries = newValue.isNull ? [] : [Entry(id: id, root: newValue)]
      all.replaceSubrange(place..<place + (isThere ? 1 : 0), with: entries)
    }
  }

  /// Replaces the roots of all trees. The new roots must not be null.
  mutating func changeRoots(_ change: (Ref) -> Ref) {
    for place in all.indices { all[place].root = change(all[place].root) }
  }

  private func place(of id: UInt16) -> Int {
    all.partitioningIndex { $0.id >= id }
  }

  /// A view of the entries for reading, which needs no reference counting.
  var view: View { @_lifetime(borrow self) get { View(all.span) } }

  struct View: ~Escapable, BitwiseCopyable {
    let all: Span<Entry>

    @_lifetime(copy all)
    fileprivate init(_ all: Span<Entry>) { self.all = all }

    /// The root of the tree with an id; null if there is none.
    subscript(id: UInt16) -> Ref {
      for index in all.indices where all[index].id == id { return all[index].root }
      return .null
    }
  }
}
