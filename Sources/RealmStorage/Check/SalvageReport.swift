/// The content of a damaged version that a new file has, and the content that it lacks.
package struct SalvageReport: Sendable {
  /// Content that could be read but was not written, because it can't exist without content that is lost.
  package enum Consequence: Sendable, Hashable, Comparable {
    /// Links in a column to objects that are lost.
    case links(table: String, column: String)
    /// Embedded objects of a table whose owners are lost.
    case parts(table: String)
    /// Objects of a table whose primary key is lost, or that have the key of another object.
    case keys(table: String)
    /// A column with links to a table that is lost.
    case column(table: String, column: String)
    /// Values in a column that no writer stores there.
    case values(table: String, column: String)
    /// A table with the name of another table, or with a name that no writer gives.
    case table(String)
  }

  package var tables = 0
  /// The number of rows of all tables that were written.
  package var rows = 0
  package var trees = 0
  /// The number of entries of all named trees that were written.
  package var entries = 0
  /// The losses of content that could not be read, in the order in which they were found.
  package var losses: [Loss] = []
  /// The number of times that each consequence occurred.
  package var consequences: [Consequence: Int] = [:]

  package var isComplete: Bool { losses.isEmpty && consequences.isEmpty }

  mutating func note(_ consequence: Consequence, _ count: Int = 1) {
    consequences[consequence, default: 0] += count
  }
}

extension SalvageReport.Consequence: CustomStringConvertible {
  /// The text that follows the number of occurrences.
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
