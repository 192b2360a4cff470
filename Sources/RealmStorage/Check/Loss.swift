/// Content of a version that can't be read, and the damaged node that prevents it.
package struct Loss: Sendable, Equatable {
  /// The kind of content that is lost with a damaged node.
  package enum What: String, Sendable {
    /// Whole rows of a table.
    case rows
    /// The values of one column in some rows. These rows keep their other values.
    case cells
    /// Entries of a named tree, with keys and values.
    case entries
    /// The values of some entries of a named tree. These entries keep their keys.
    case values
    /// Whole tables, with their names and columns.
    case tables
    /// Whole named trees, with their names.
    case trees
    /// All tables and all named trees, because nothing can be found without the damaged node.
    case everything
  }

  /// The keys of the lost content, as far as the nodes around it tell.
  package enum Keys: Sendable, Equatable {
    case unknown
    case rows(Range<UInt64>)
    /// The keys from one key up to another, which is not included. The end is nil if there is none.
    case entries(from: [UInt8], below: [UInt8]?)
  }

  package var what: What
  /// The table, column or tree that lost the content; the catalogue if that is not known.
  package var part: FilePart
  /// The number of lost things; nil if it is not known. The number of rows, entries, tables and trees comes from a
  /// branch, and was not compared with the lost content.
  package var count: UInt64?
  package var keys: Keys
  package var damage: Corruption
}

extension Loss: CustomStringConvertible {
  package var description: String {
    guard what != .everything else {
      return "everything, since nothing is found without this node: \(damage)"
    }
    let isEstimate = what != .cells && what != .values
    let amount =
      count.map { "\(isEstimate ? "about " : "")\($0) \($0 == 1 ? noun.one : noun.many)" }
      ?? "an unknown number of \(noun.many)"
    let owner = part.role == .catalogue ? "" : " of \(part)"
    return "\(amount)\(owner)\(range): \(damage)"
  }

  private var noun: (one: String, many: String) {
    switch what {
    case .rows: ("row", "rows")
    case .cells, .values: ("value", "values")
    case .entries: ("entry", "entries")
    case .tables: ("table", "tables")
    case .trees: ("named tree", "named trees")
    case .everything: ("file", "files")
    }
  }

  /// The keys of trees are the user's data, so they are left out. The keys of rows are not.
  private var range: String {
    guard case .rows(let keys) = keys, !keys.isEmpty else { return "" }
    return keys.count == 1
      ? ", key \(keys.lowerBound)" : ", keys from \(keys.lowerBound) to \(keys.upperBound - 1)"
  }
}
