import Definition

/// Reads definitions for tests.
enum Reading {
  /// The definition in a text.
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

  /// Reports a problem for each predicate that contains the word "wrong".
  private static func check(_ text: String, _ table: String, _ fields: [String]) -> String? {
    text.contains("wrong") ? "The predicate for \(table) is wrong" : nil
  }

  /// A definition whose fourth line is the right to read a class Task. The text begins at column 11 of that line.
  static func right(_ text: String) -> String { "id: a\nrights:\n  Task:\n    read: \(text)\n" }
}
