import Foundation
import Testing

@testable import api_coverage

@Suite struct ApiCoverageTests {
  /// A class with a method, a protocol with a property that the class conforms to, and a name that is not public.
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

  /// A generic class that can't be subclassed, with two properties, an initializer, and conformances that depend on its
  /// parameter.
  private static let box = #"""
    {"symbols": [
      {"kind": {"identifier": "swift.class"}, "identifier": {"precise": "b"}, "pathComponents": ["Box"],
       "accessLevel": "public", "swiftGenerics": {"parameters": [{"name": "Element", "index": 0, "depth": 0}],
       "constraints": [{"kind": "conformance", "lhs": "Element", "rhs": "Storable"}]}},
      {"kind": {"identifier": "swift.class"}, "identifier": {"precise": "o"}, "pathComponents": ["OpenBox"],
       "accessLevel": "open"},
      {"kind": {"identifier": "swift.property"}, "identifier": {"precise": "r"}, "pathComponents": ["Box", "size"],
       "accessLevel": "public", "declarationFragments": [{"kind": "text", "spelling": "var size: Int { get }"}]},
      {"kind": {"identifier": "swift.property"}, "identifier": {"precise": "l"}, "pathComponents": ["Box", "id"],
       "accessLevel": "public", "declarationFragments": [{"kind": "text", "spelling": "let id: Int"}]},
      {"kind": {"identifier": "swift.property"}, "identifier": {"precise": "w"}, "pathComponents": ["Box", "name"],
       "accessLevel": "public", "declarationFragments": [{"kind": "text", "spelling": "var name: String { get set }"}]},
      {"kind": {"identifier": "swift.property"}, "identifier": {"precise": "v"}, "pathComponents": ["Box", "tag"],
       "accessLevel": "open", "declarationFragments": [{"kind": "text", "spelling": "var tag: String"}]},
      {"kind": {"identifier": "swift.init"}, "identifier": {"precise": "i"}, "pathComponents": ["Box", "init()"],
       "accessLevel": "public", "declarationFragments": [{"kind": "text", "spelling": "init()"}]},
      {"kind": {"identifier": "swift.init"}, "identifier": {"precise": "j"}, "pathComponents": ["Box", "init(value:)"],
       "accessLevel": "public", "declarationFragments": [{"kind": "text", "spelling": "required init(value: Int)"}]},
      {"kind": {"identifier": "swift.method"}, "identifier": {"precise": "s"}, "pathComponents": ["Box", "sum(of:)"],
       "accessLevel": "public", "declarationFragments": [{"kind": "text", "spelling": "func sum<T>(of: T) -> Int"}],
       "swiftGenerics": {"parameters": [{"name": "Element", "index": 0, "depth": 0}, {"name": "T", "index": 0, "depth": 1}],
       "constraints": [{"kind": "conformance", "lhs": "Element", "rhs": "Storable"},
         {"kind": "conformance", "lhs": "Element", "rhs": "Addable"},
         {"kind": "conformance", "lhs": "T.Content", "rhs": "Number"},
         {"kind": "sameType", "lhs": "T.Content", "rhs": "Element"}]}}],
     "relationships": [
      {"kind": "conformsTo", "source": "b", "target": "MC", "targetFallback": "Swift.Sequence"},
      {"kind": "conformsTo", "source": "b", "target": "SE", "targetFallback": "Swift.Encodable",
       "swiftConstraints": [{"kind": "conformance", "lhs": "Element", "rhs": "Storable"},
         {"kind": "conformance", "lhs": "Element", "rhs": "Encodable"}]}]}
    """#

  private func row(
    _ type: String, _ member: String, _ kind: SurfaceRow.Kind, _ note: String = "",
    facts: Set<SurfaceRow.Fact> = []
  ) -> SurfaceRow {
    SurfaceRow(area: "model", type: type, member: member, kind: kind, tier: "1", note: note, facts: facts)
  }

  private func gaps(_ rows: [SurfaceRow], in text: String = graph) throws -> [String] {
    let graph = try JSONDecoder().decode(SymbolGraph.self, from: Data(text.utf8))
    return Coverage(rows, Declarations([graph])).gaps(in: nil, later: false)
  }

  @Test func `a declaration of the type itself or of a protocol is found`() throws {
    #expect(
      try gaps([
        row("Cat", "", .class), row("Cat", "feed(_:)", .method, "throws; -> Bool"),
        row("Cat", "name", .property, "-> String"),
        row("Cat", "==(lhs:rhs:)", .operator), row("Named", "", .protocol),
      ]).isEmpty)
  }

  @Test func `a declaration that is missing, differs in labels or type, or is not public is reported`() throws
  {
    let gaps = try gaps([
      row("Dog", "", .class), row("Cat", "feed(with:)", .method), row("Cat", "name", .property, "-> Int"),
      row("Cat", "hide()", .method), row("Cat", "feed(_:)", .property), row("Named", "hash(into:)", .method),
    ])
    #expect(gaps.count == 6)
    #expect(gaps[2].contains("is String, not Int"))
  }

  @Test func `a read-only property is reported if programs set it`() throws {
    let gaps = try gaps(
      ["size", "id", "name", "tag"].map { row("Box", $0, .property, facts: [.set]) }, in: Self.box)
    #expect(
      gaps == [
        "model, tier 1: property Box.size is not settable", "model, tier 1: property Box.id is not settable",
      ])
    #expect(try self.gaps([row("Box", "size", .property)], in: Self.box).isEmpty)
  }

  @Test
  func `classes and members that can't be overridden, and an initializer that is not required, are reported`()
    throws
  {
    let gaps = try gaps(
      [
        row("Box", "", .class, facts: [.open]), row("OpenBox", "", .class, facts: [.open]),
        row("Box", "name", .property, facts: [.open]), row("Box", "tag", .property, facts: [.open]),
        row("Box", "init()", .`init`, facts: [.required]),
        row("Box", "init(value:)", .`init`, facts: [.required]),
      ], in: Self.box)
    #expect(
      gaps == [
        "model, tier 1: class Box is not open", "model, tier 1: property Box.name is not open",
        "model, tier 1: init Box.init() is not required",
      ])
  }

  @Test func `conformances that are missing, or have more constraints, are reported`() throws {
    let gaps = try gaps(
      [
        row("Box", "Sequence", .conformance), row("Box", "Hashable", .conformance),
        row("Box", "Encodable", .conformance),
        row("Box", "Encodable", .conformance, "where Element: Encodable"),
        row("Box", "Encodable", .conformance, "where Element: Codable"),
      ], in: Self.box)
    #expect(
      gaps == [
        "model, tier 1: conformance Box: Hashable",
        "model, tier 1: conformance Box: Encodable asks that Element: Encodable",
      ])
  }

  @Test func `a member with more constraints than RealmSwift's is reported`() throws {
    func gaps(_ note: String) throws -> [String] {
      try self.gaps([row("Box", "sum(of:)", .method, note)], in: Self.box)
    }
    let start = "model, tier 1: method Box.sum(of:) asks that "
    // A constraint that the type itself has on its elements is not a gap, and neither is a constraint on a parameter of
    // the member.
    #expect(try gaps("") == [start + "Element: Addable"])
    #expect(try gaps("where Element: Addable").isEmpty)
    #expect(
      try gaps("-> Int; func where Element: Addable, T.Content: Text") == [start + "T.Content: Number"])
    #expect(try gaps("where Element: Addable, T.Content: Number, Self.Element == T.Content").isEmpty)
  }

  @Test func `rows of the surface are read with their constraints on types`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).tsv")
    defer { try? FileManager.default.removeItem(at: file) }
    try
      "area\ttype\tmember\tkind\ttier\tnote\tfacts\nvalues\tCat\tname\tproperty\t2\tstatic; -> String?; old\tset; open\n"
      .write(to: file, atomically: true, encoding: .utf8)
    let rows = try SurfaceRow.all(in: file)
    #expect(rows.count == 1 && rows[0].resultType == "String?" && rows[0].isWanted && !rows[0].isLater)
    #expect(rows[0].facts == [.set, .open])
    for line in ["values\tCat", "values\tCat\tname\tproperty\t2\t\tsettable"] {
      try "area\n\(line)\n".write(to: file, atomically: true, encoding: .utf8)
      #expect(throws: (any Error).self) { try SurfaceRow.all(in: file) }
    }
  }
}
