/// The result of a row: its figures and its problems.
final class Report {
  private let row: String
  private var figures: [(name: String, value: String)] = []
  /// The number of promised commits that no client has.
  var lost = 0
  /// The number of commits that are there more than once, or that were never made.
  var doubled = 0
  /// The number of clients that show other objects than a new client.
  var diverged = 0
  /// The number of errors that reached the handler of a client and should not have.
  var errors = 0
  private(set) var wrong: [String] = []
  private var isSkipped = false
  /// The line of the other program that has run the row.
  private var told: String?

  init(_ row: String) { self.row = row }

  /// The result of a row that another program has run.
  init(told line: String) {
    (row, told) = ("", line)
    check(line.hasSuffix(Self.right), "Another program has run the row.")
  }

  private static let right = "result=right"

  /// The result of a row that this machine can't run.
  static func skipped(_ row: String, because reason: String) -> Report {
    let report = Report(row)
    report.isSkipped = true
    report.add("reason", "\"\(reason)\"")
    return report
  }

  func add(_ name: String, _ value: some CustomStringConvertible) {
    figures.append((name, value.description))
  }

  func check(_ isRight: Bool, _ text: @autoclosure () -> String) { if !isRight { wrong.append(text()) } }

  var isGood: Bool { wrong.isEmpty && lost == 0 && doubled == 0 && diverged == 0 && errors == 0 }

  var line: String {
    let found = figures.map { " \($0.name)=\($0.value)" }.joined()
    if let told { return told }
    guard !isSkipped else { return "row=\(row)\(found) result=skipped" }
    return "row=\(row)\(found) lost=\(lost) doubled=\(doubled) diverged=\(diverged) errors=\(errors) "
      + (isGood ? Self.right : "result=wrong")
  }
}
