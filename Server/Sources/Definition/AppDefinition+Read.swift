extension AppDefinition {
  /// The greatest size of a file in bytes: 1 MiB.
  public static let mostBytes = 1 << 20

  /// Tells what is wrong with a predicate.
  ///
  /// - Parameters:
  ///   - text: the predicate; see `Rule.text`.
  ///   - table: the name of its class.
  ///   - fields: the properties that the predicate may use: the property of the partition, and behind it those that
  ///     `AppDefinition.fields` has for the class.
  /// - Returns: sentences for people that say what is wrong; nil if nothing is.
  public typealias PredicateCheck = (_ text: String, _ table: String, _ fields: [String]) -> String?

  /// Reads the definition of an app.
  ///
  /// All problems of a file are reported at once. The exception is a text that is not YAML, or that uses parts of YAML
  /// which definitions do not know (tabs before a line, anchors, aliases, tags). Then only these problems are reported.
  ///
  /// - Parameters:
  ///   - text: the content of the file. A byte order mark at its start is left out.
  ///   - file: the name of the file, for messages.
  ///   - checkPredicate: checks each predicate. It is not called while the fields have problems, because it would then
  ///     complain of predicates that are right.
  /// - Throws: an error with all problems.
  public static func read(
    _ text: String, file: String, checkPredicate: PredicateCheck
  ) throws(DefinitionProblems) -> AppDefinition {
    guard text.utf8.count <= mostBytes else {
      let problem = DefinitionProblem(
        file: file, line: 1, column: 1, what: "The file has \(text.utf8.count) bytes.",
        remedy: "Make it shorter: \(mostBytes) bytes are the most.")
      throw DefinitionProblems(problems: [problem])
    }
    let text = DefinitionText(text)
    var problems = ProblemList(file: file, text: text)
    text.checkCharacters(&problems)
    text.checkAliases(&problems)
    if let error = problems.error { throw error }
    var composer = DefinitionComposer(text)
    guard let document = composer.compose(&problems) else {
      throw problems.error ?? DefinitionProblems(problems: [])
    }
    var reader = DefinitionReader(document: document, problems: problems)
    let app = reader.app(checkPredicate)
    if let error = reader.problems.error { throw error }
    return app
  }
}
