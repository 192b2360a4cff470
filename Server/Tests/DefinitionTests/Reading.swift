import Definition

/// Reads definitions for tests.
enum Reading {
  /// The definition.
  static func app(_ text: String) throws(DefinitionProblems) -> AppDefinition {
    try AppDefinition.read(text, file: "app.yaml", checkPredicate: check)
  }

  /// All problems of a text; none if it is a definition.
  static func problems(_ text: String) -> [DefinitionProblem] {
    do throws(DefinitionProblems) {
      _ = try app(text)
      return []
    } catch {
      return error.problems
    }
  }

  /// It finds a predicate wrong that says so.
  private static func check(_ text: String, _ table: String, _ fields: [String]) -> String? {
    text.contains("wrong") ? "The predicate for \(table) is wrong" : nil
  }

  /// The right to read of a class Task, as the fourth line of a definition. A text begins at its column 11.
  static func right(_ text: String) -> String { "id: a\nrights:\n  Task:\n    read: \(text)\n" }
}
