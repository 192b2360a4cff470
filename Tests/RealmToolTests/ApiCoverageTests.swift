import Foundation
import Testing

@testable import api_coverage

@Suite struct ApiCoverageTests {
  /// A class with a method, a protocol it conforms to with a property, and a name that is not public.
  private static let graph = #"""
    {"symbols": [
      {"kind": {"identifier": "swift.class"}, "identifier": {"precise": "c"}, "pathComponents": ["Cat"], "accessLevel": "open"},
      {"kind": {"identifier": "swift.method"}, "identifier": {"precise": "m"}, "pathComponents": ["Cat", "feed(_:)"],
       "accessLevel": "public", "declarationFragments": [{"kind": "text", "spelling": "func feed(_ what: Fish) -> Bool"}]},
      {"kind": {"identifier": "swift.method"}, "identifier": {"precise": "h"}, "pathComponents": ["Cat", "hide()"],
       "accessLevel": "internal"},
      {"kind": {"identifier": "swift.protocol"}, "identifier": {"precise": "p"}, "pathComponents": ["Named"],
       "accessLevel": "public"},
      {"kind": {"identifier": "swift.property"}, "identifier": {"precise": "n"}, "pathComponents": ["Named", "name"],
       "accessLevel": "public", "declarationFragments": [{"kind": "text", "spelling": "var name: String { get }"}]}],
     "relationships": [
      {"kind": "conformsTo", "source": "c", "target": "p"},
      {"kind": "conformsTo", "source": "c", "target": "SQ", "targetFallback": "Swift.Equatable"}]}
    """#

  private func row(_ type: String, _ member: String, _ kind: SurfaceRow.Kind, _ note: String = "")
    -> SurfaceRow
  {
    SurfaceRow(area: "model", type: type, member: member, kind: kind, tier: "1", note: note)
  }

  private func gaps(_ rows: [SurfaceRow]) throws -> [String] {
    let graph = try JSONDecoder().decode(SymbolGraph.self, from: Data(Self.graph.utf8))
    return Coverage(rows, Declarations([graph])).gaps(in: nil, later: false)
  }

  @Test func `what is there, of itself or by a protocol, is found`() throws {
    #expect(
      try gaps([
        row("Cat", "", .class), row("Cat", "feed(_:)", .method, "throws; -> Bool"),
        row("Cat", "name", .property, "-> String"),
        row("Cat", "==(lhs:rhs:)", .operator), row("Named", "", .protocol),
      ]).isEmpty)
  }

  @Test func `what is missing, has other labels, another type or is not public is told`() throws {
    let gaps = try gaps([
      row("Dog", "", .class), row("Cat", "feed(with:)", .method), row("Cat", "name", .property, "-> Int"),
      row("Cat", "hide()", .method), row("Cat", "feed(_:)", .property), row("Named", "hash(into:)", .method),
    ])
    #expect(gaps.count == 6)
    #expect(gaps[2].contains("is String, not Int"))
  }

  @Test func `rows of the surface are read with what they say of types`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).tsv")
    defer { try? FileManager.default.removeItem(at: file) }
    try "area\ttype\tmember\tkind\ttier\tnote\nvalues\tCat\tname\tproperty\t2\tstatic; -> String?; old\n"
      .write(to: file, atomically: true, encoding: .utf8)
    let rows = try SurfaceRow.all(in: file)
    #expect(rows.count == 1 && rows[0].resultType == "String?" && rows[0].isWanted && !rows[0].isLater)
    try "area\nvalues\tCat\n".write(to: file, atomically: true, encoding: .utf8)
    #expect(throws: (any Error).self) { try SurfaceRow.all(in: file) }
  }
}
