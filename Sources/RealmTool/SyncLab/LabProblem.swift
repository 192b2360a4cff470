/// An error in a command: the problem and a remedy, each as sentences.
struct LabProblem: Error, Equatable, CustomStringConvertible {
  var what: String
  var remedy: String

  init(_ what: String, _ remedy: String) { (self.what, self.remedy) = (what, remedy) }

  var description: String { "\(what) \(remedy)" }
}
