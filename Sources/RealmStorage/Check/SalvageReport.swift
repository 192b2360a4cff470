/// Tells what a new file has of a damaged version, and what it lacks.
package struct SalvageReport: Sendable {
  /// Something that could be read, and was not written, since it can't be without what is lost.
  package enum Consequence: Sendable, Hashable, Comparable {
    /// Links of a column to objects that are lost.
    case links(table: String, column: String)
    /// Embedded objects of a table whose owners are lost.
    case parts(table: String)
    /// Objects of a table whose primary key is lost, or that have the key of another one.
    case keys(table: String)
    /// A column of links to a table that is lost.
    case column(table: String, column: String)
    /// Values of a column that no writer stores there.
    case values(table: String, column: String)
    /// A table that has the name of another one, or one that no writer gives.
    case table(String)
  }

  package var tables = 0
  /// Rows of all tables that were written.
  package var rows = 0
  package var trees = 0
  /// Entries of all named trees that were written.
  package var entries = 0
  /// The losses of what could not be read, in the order they were found.
  package var losses: [Loss] = []
  /// The number of each.
  package var consequences: [Consequence: Int] = [:]

  package var isComplete: Bool { losses.isEmpty && consequences.isEmpty }

  mutating func note(_ consequence: Consequence, _ count: Int = 1) {
    consequences[consequence, default: 0] += count
  }
}

extension SalvageReport.Consequence: CustomStringConvertible {
  /// The text that follows the number of them.
  package var description: String {
    switch self {
    case .links(let table, let column): "links of \(table).\(column) that led to objects which are lost"
    case .parts(let table): "embedded objects of \(table) whose owners are lost"
    case .keys(let table): "objects of \(table) whose primary key is lost, or is that of another object"
    case .column(let table, let column):
      "column \(table).\(column), whose links led to a table which is lost"
    case .values(let table, let column): "values of \(table).\(column) that the column can't hold"
    case .table(let name): "table with the name \(name), which another one has or none may have"
    }
  }
}
