import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct BindingConformanceTests {
  private let fixture: BindingFixture

  init() throws { fixture = try BindingFixture() }

  private func check(_ rows: [BindingRow], _ language: QueryLanguage) throws {
    for row in rows { try fixture.check(row, language) }
  }

  @Test func `each query of RQL finds the objects in its table`() throws {
    #expect(rqlBindingRows.map(\.text) == rqlConformance.map(\.text))
    try check(rqlBindingRows, .rql)
  }

  @Test func `each predicate format finds the objects in its table`() throws {
    #expect(formatBindingRows.map(\.text) == formatConformance.map(\.text))
    try check(formatBindingRows, .predicateFormat)
  }

  @Test func `each text that a typed query prints finds the objects in its table`() throws {
    #expect(printedBindingRows.count == 69)
    try check(printedBindingRows, .predicateFormat)
  }
}
