/// A command that can't be carried out: what is wrong with it, and what to do. Both are sentences.
struct LabProblem: Error, Equatable, CustomStringConvertible {
  var what: String
  var remedy: String

  init(_ what: String, _ remedy: String) { (self.what, self.remedy) = (what, remedy) }

  var description: String { "\(what) \(remedy)" }
}
