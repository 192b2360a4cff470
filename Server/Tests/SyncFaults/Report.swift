/// What a row has found: figures, and what is wrong.
final class Report {
  private let row: String
  private var figures: [(name: String, value: String)] = []
  /// What was promised to be there and is not, on any client.
  var lost = 0
  /// What is there more than once, or was never written.
  var doubled = 0
  /// Clients that show something else than a new client.
  var diverged = 0
  /// Errors that reached the handler of a client, and should not.
  var errors = 0
  private(set) var wrong: [String] = []
  private var isSkipped = false
  /// The line of another program that has run the row.
  private var told: String?

  init(_ row: String) { self.row = row }

  /// What another program has found.
  init(told line: String) {
    (row, told) = ("", line)
    check(line.hasSuffix(Self.right), "Another program has run the row.")
  }

  private static let right = "result=right"

  /// A row that this machine can't run.
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
