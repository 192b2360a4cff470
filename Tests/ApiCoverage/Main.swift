import ArgumentParser
import Foundation

@main
struct ApiCoverage: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "api-coverage",
    abstract: "Compares the built module with what code written for RealmSwift may use.")

  @Option(help: "The folder of the module's symbol graphs.")
  var symbols: String

  @Option(help: "The rows to compare with.")
  var surface = "Tests/ApiCoverage/surface.tsv"

  @Option(help: "Puts the table into a file, between its two marks.")
  var write: String?

  @Option(help: "Fails where a file has another table between its marks.")
  var check: String?

  @Flag(help: "Lists what is missing.")
  var gaps = false

  @Flag(help: "Lists what comes later too.")
  var later = false

  @Option(help: "Fails where no test below a folder names a row of tier 1 or 2 that is there.")
  var tests: String?

  @Option(help: "Lists of one area only.")
  var area: String?

  private static let marks = ("<!-- coverage: made by `make coverage` -->", "<!-- end of coverage -->")

  func run() throws {
    let graphs = try SymbolGraph.all(in: URL(fileURLWithPath: symbols))
    guard !graphs.isEmpty else { throw ValidationError("There are no symbol graphs in \(symbols).") }
    let coverage = Coverage(
      try SurfaceRow.all(in: URL(fileURLWithPath: surface)), Declarations(graphs))
    if gaps || later { for gap in coverage.gaps(in: area, later: later) { print(gap) } }
    if let write {
      let text = try String(contentsOfFile: write, encoding: .utf8)
      try replaced(text, by: coverage.table, in: write).write(
        toFile: write, atomically: true, encoding: .utf8)
    }
    if let check {
      let text = try String(contentsOfFile: check, encoding: .utf8)
      guard try replaced(text, by: coverage.table, in: check) == text else {
        throw ValidationError("\(check) has another table than the module: run 'make coverage'.")
      }
    }
    if let tests {
      let untested = coverage.untested(try Self.words(below: tests))
      guard untested.isEmpty else {
        throw ValidationError("No test below \(tests) names: \(untested.joined(separator: ", ")).")
      }
    }
    if write == nil, check == nil, !gaps, !later { print(coverage.table) }
  }

  /// The words in all sources in a folder.
  private static func words(below folder: String) throws -> Set<Substring> {
    var words: Set<Substring> = []
    let files = FileManager.default.enumerator(atPath: folder)
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix(".swift") else { continue }
      let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
      words.formUnion(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
    }
    return words
  }

  private func replaced(_ text: String, by table: String, in file: String) throws -> String {
    guard let start = text.range(of: Self.marks.0), let end = text.range(of: Self.marks.1),
      start.upperBound <= end.lowerBound
    else { throw ValidationError("\(file) has not the marks that the table stands between.") }
    return text[..<start.upperBound] + "\n\n" + table + "\n\n" + text[end.lowerBound...]
  }
}
