import Yams

extension ProblemList {
  /// Adds the problem that Yams reports of a text that is not YAML.
  mutating func add(_ error: any Error) {
    switch error as? YamlError {
    case .scanner(let context, let problem, let mark, _)?,
      .parser(let context, let problem, let mark, _)?:
      let place = Place(mark)
      let part = context.map { ", \($0.text) from line \($0.mark.line), column \($0.mark.column)" } ?? ""
      add(at: place, "This is no YAML: \(problem)\(part).", Self.remedy(text.scalar(at: place)))
    case .composer(_, _, let mark, _)?:
      // An alias has no anchor. Yams has no other problem of this kind if documents are read one by one.
      add(at: Place(mark), DefinitionText.aliasProblem, DefinitionText.aliasRemedy)
    default:
      add(at: .start, "The file can't be read as YAML.", "Check that it is a text, and save it in UTF-8.")
    }
  }

  /// - Parameter scalar: the scalar at the place of the problem.
  private static func remedy(_ scalar: Unicode.Scalar?) -> String {
    switch scalar {
    case "\t": "Put blanks in place of the tab."
    case "@", "`", "%": "Put the text into quotes."
    default:
      "Check the indentation, the colons and the quotes here and on the line before. A text stands in quotes "
        + "as a whole if it begins with a quote or a sign, or has a colon before a blank or a blank before #."
    }
  }
}
