/// An error in an input that is imported, with its place.
package struct InputProblem: Error, CustomStringConvertible, Sendable {
  /// The number of the line, from 1 on. For a record of several lines, it is the first line.
  package var line: Int
  /// The number of the byte in the line, from 1 on.
  package var column: Int
  /// The property to which the value belongs; nil if the error is not about a property.
  package var property: String?
  /// The value as a text; nil if the error is not about a value. The description cuts it to 60 characters.
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
