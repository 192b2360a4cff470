/// Something of a version that can't be read, and the node that keeps it from being read.
package struct Loss: Sendable, Equatable {
  /// The kind of content that is lost with a damaged node.
  package enum What: String, Sendable {
    /// Whole rows of a table.
    case rows
    /// The values of one column in some rows, which have their other values.
    case cells
    /// Entries of a named tree, keys and values.
    case entries
    /// The values of some entries of a named tree, which have their keys.
    case values
    /// Whole tables, with their names and columns.
    case tables
    /// Whole named trees, with their names.
    case trees
    /// All tables and all named trees: nothing is found without the node that is damaged.
    case everything
  }

  /// Which keys they have, as far as their surroundings tell.
  package enum Keys: Sendable, Equatable {
    case unknown
    case rows(Range<UInt64>)
    /// From one key up to another that is not among them; nil where there is none.
    case entries(from: [UInt8], below: [UInt8]?)
  }

  package var what: What
  /// The table, column or tree that lost them; the catalogue where that is not known.
  package var part: FilePart
  /// How many there are; nil where nothing tells. Of rows, entries, tables and trees a branch tells it, which was not
  /// compared with what is gone.
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

  /// Keys of trees are the user's data, and those of rows are not.
  private var range: String {
    guard case .rows(let keys) = keys, !keys.isEmpty else { return "" }
    return keys.count == 1
      ? ", key \(keys.lowerBound)" : ", keys from \(keys.lowerBound) to \(keys.upperBound - 1)"
  }
}
