/// A problem of a definition: what is wrong, where it is, and what to do.
public struct DefinitionProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// The name of the file, as the caller of `AppDefinition.read` gave it.
  public let file: String
  /// The line of the problem; the first line is 1. An empty file has one line.
  public let line: Int
  /// The column of the problem in Unicode scalars; the first column is 1.
  public let column: Int
  /// What is wrong: one sentence or more.
  public let what: String
  /// What to do: one sentence or more.
  public let remedy: String

  public init(file: String, line: Int, column: Int, what: String, remedy: String) {
    (self.file, self.line, self.column) = (file, line, column)
    (self.what, self.remedy) = (what, remedy)
  }

  /// The problem in the form `app.yaml:12:5: What is wrong. What to do.`
  public var description: String { "\(file):\(line):\(column): \(what) \(remedy)" }
}

/// All problems of a definition.
public struct DefinitionProblems: Error, Sendable, Equatable, CustomStringConvertible {
  /// The problems, in the order of their places. There is at least one.
  public let problems: [DefinitionProblem]

  /// The problems, each on a line of its own.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// The problems that are found while a definition is read.
struct ProblemList {
  let file: String
  let text: DefinitionText
  private(set) var found: [DefinitionProblem] = []

  init(file: String, text: DefinitionText) { (self.file, self.text) = (file, text) }

  mutating func add(at place: Place, _ what: String, _ remedy: String) {
    let place = text.within(place)
    found.append(
      DefinitionProblem(file: file, line: place.line, column: place.column, what: what, remedy: remedy))
  }

  /// An error with all problems; nil if there are none.
  var error: DefinitionProblems? {
    guard !found.isEmpty else { return nil }
    return DefinitionProblems(problems: found.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
  }
}
