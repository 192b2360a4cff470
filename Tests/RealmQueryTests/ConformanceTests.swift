import RealmQuery
import RealmStorage
import Testing

@Suite struct ConformanceTests {
  @Test func `each text of Realm's query language reads, or fails, as its table says`() {
    #expect(rqlConformance.count == 106)
    for row in rqlConformance {
      #expect(
        Self.outcome { () throws(QueryError) in try QueryParser.rql(row.text) } == row.outcome, "\(row.text)")
    }
  }

  @Test func `each predicate format reads, or fails, as its table says`() {
    #expect(formatConformance.count == 88)
    for row in formatConformance {
      let outcome = Self.outcome { () throws(QueryError) in
        try QueryParser.predicateFormat(row.text, arguments: row.arguments)
      }
      #expect(outcome == row.outcome, "\(row.text)")
    }
  }

  @Test func `each text that a typed query prints is a predicate format`() {
    let arguments = Array(repeating: QueryArgument.value(.string("#any")), count: 9)
    for text in printedFormats {
      let outcome = Self.outcome { () throws(QueryError) in
        try QueryParser.predicateFormat(text, arguments: arguments)
      }
      #expect(outcome == .reads, "\(text)")
    }
  }

  @Test func `what the rules of Realm's query language refuse or take beside the table is refused or taken`()
  {
    for row in rqlRules {
      #expect(
        Self.outcome { () throws(QueryError) in try QueryParser.rql(row.text) } == row.outcome, "\(row.text)")
    }
  }

  @Test func `what the rules of predicate formats refuse or take beside the table is refused or taken`() {
    for row in formatRules {
      let outcome = Self.outcome { () throws(QueryError) in
        try QueryParser.predicateFormat(row.text, arguments: row.arguments)
      }
      #expect(outcome == row.outcome, "\(row.text)")
    }
  }

  static func outcome(_ read: () throws(QueryError) -> QuerySyntax) -> Outcome {
    do throws(QueryError) {
      _ = try read()
      return .reads
    } catch {
      switch error.kind {
      case .syntax: return .syntax
      case .invalidQuery: return .invalidQuery
      case .invalidArgument: return .invalidArgument
      }
    }
  }
}
