import RealmQuery
import RealmStorage
import Testing

@Suite struct ConformanceTests {
  @Test func `each text of Realm's query language is read or refused as its table says`() {
    #expect(rqlConformance.count == 106)
    for row in rqlConformance {
      #expect(
        Self.outcome { () throws(QueryError) in try QueryParser.rql(row.text) } == row.outcome, "\(row.text)")
    }
  }

  @Test func `each predicate format is read or refused as its table says`() {
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

  @Test func `texts that the table of Realm's query language lacks are read or refused by its rules`() {
    for row in rqlRules {
      #expect(
        Self.outcome { () throws(QueryError) in try QueryParser.rql(row.text) } == row.outcome, "\(row.text)")
    }
  }

  @Test func `texts that the table of predicate formats lacks are read or refused by its rules`() {
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
