/// What is wrong with an input that is imported, and where.
package struct InputProblem: Error, CustomStringConvertible, Sendable {
  /// The line, from 1 on; a record of more lines is told by its first one.
  package var line: Int
  /// The byte of the line, from 1 on.
  package var column: Int
  /// The property that the value is for.
  package var property: String?
  /// The value, cut short; nil where there is none.
  package var value: String?
  /// The rest of a sentence that begins with the property and the value: "is no whole number."
  package var reason: String

  package init(line: Int, column: Int, property: String? = nil, value: String? = nil, _ reason: String) {
    (self.line, self.column, self.property, self.value, self.reason) = (line, column, property, value, reason)
  }

  package var description: String {
    let subject = [property, value].map { $0.map(Self.shown) }.compactMap { $0 }.joined(separator: " ")
    return "line \(line), column \(column): " + (subject.isEmpty ? reason : subject + " " + reason)
  }

  private static func shown(_ value: String) -> String {
    value.count <= 60 ? value : value.prefix(59) + "…"
  }
}
