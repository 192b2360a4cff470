import RealmFuzzSupport
import RealmQuery
import RealmServer
import RealmStorage

/// The server's decoders of the queries of a query set, and of the predicates of rules.
enum QueryDecoders {
  static var all: [FuzzedDecoder] {
    [query, predicate("filter-text", .query), predicate("rule-text", .rule), filter]
  }

  private static let words = [
    "(", ")", "{", "}", "[", "]", "==", "!=", "<", ">=", "=", "<>", "!", "&&", "||", "AND", "or", "NOT", "IN",
    "BETWEEN", "BEGINSWITH", "ENDSWITH[c]", "CONTAINS", "LIKE", "ANY", "ALL", "NONE", "TRUEPREDICATE",
    "FALSEPREDICATE", "nil", "NULL", "true", "'a'", "\"b\"", "'", "\"", "\\", "\\u0041", "i", "d", "s", "b",
    "m", "$user.id", "$user.roles", "$user.custom_data.x", "$partition", "$0", "@count", "@links", ".", ",",
    "[c]", "SORT(i ASC)", "DISTINCT(s)", "LIMIT(1)", "SUBQUERY(", "T2020-01-01@00:00:00", "B64\"AAAA\"",
    "uuid(", "oid(0123456789abcdef01234567)", "0x10", "1.5f", "inf", "-", "+", "*", "/", "@type",
    "obj('T', 1)",
  ]
  private static let memory = MemoryBound(constant: 2 << 20, perByte: 20_000)

  // MARK: - The query language

  private static var query: FuzzedDecoder {
    FuzzedDecoder("query", quick: 10_000) {
      FuzzedDecoder.Trial(
        samples: try NetworkCorpus.kept.samples("query") + NetworkCorpus.kept.samples("rule-text"),
        mutator: ByteMutator(.text(words: words), most: 2048), memory: memory
      ) { bytes, generator in
        let text = String(decoding: bytes, as: UTF8.self)
        let syntax: QuerySyntax
        do throws(QueryError) {
          syntax = try QueryParser.rql(text)
        } catch {
          guard error.range.lowerBound >= 0, error.range.upperBound <= text.utf8.count else {
            throw FuzzFailure("a mistake is told at \(error.range) of \(text.utf8.count) bytes")
          }
          if generator.chance(5), error.description.isEmpty { throw FuzzFailure("a mistake has no text") }
          return false
        }
        guard syntax.nodes.count <= 2 * text.utf8.count + 8 else {
          throw FuzzFailure("too many nodes are read")
        }
        let printed: String
        do throws(QueryError) {
          printed = try QueryPrinter.rql(syntax)
        } catch {
          throw FuzzFailure("what was read can't be printed: \(error.message)")
        }
        try RoundTrip.check(printed) { try QueryPrinter.rql(QueryParser.rql($0)) }
        return true
      }
    }
  }

  // MARK: - Filters

  private static let fields = ["i", "d", "s", "b", "m"]
  private static let types: [String: ColumnType] = [
    "i": .int64, "d": .double, "s": .string, "b": .bool, "m": .mixed,
  ]
  private static let objects: [[Value]] = [
    [.null, .null, .null, .null, .null], [.int(3), .double(0.5), .string("ab"), .bool(true), .string("x")],
    [.int(.min), .double(.nan), .string(""), .bool(false), .int(7)],
  ]
  private static let asking = FieldFilter.Asking(
    user: "anna", partition: .string("red"),
    data: ["roles": [.string("admin"), .string("editor")], "custom_data.x": [.int(3)]])

  private static func parse(
    _ text: String, _ purpose: FieldFilter.Purpose
  ) throws(FilterProblem) -> FieldFilter {
    try FieldFilter.parse(text, of: "Thing", fields: fields, purpose: purpose) { types[$0] }
  }

  private static func predicate(_ name: String, _ purpose: FieldFilter.Purpose) -> FuzzedDecoder {
    FuzzedDecoder(name, quick: 10_000) {
      FuzzedDecoder.Trial(
        samples: try NetworkCorpus.kept.samples(name),
        mutator: ByteMutator(.text(words: words), most: 2048), memory: memory
      ) { bytes, _ in
        let filter: FieldFilter
        do throws(FilterProblem) {
          filter = try parse(String(decoding: bytes, as: UTF8.self), purpose)
        } catch {
          guard !error.text.isEmpty, error.text.utf8.count <= FilterProblem.mostBytes else {
            throw FuzzFailure("a problem is told with \(error.text.utf8.count) bytes")
          }
          return false
        }
        try check(filter)
        return true
      }
    }
  }

  /// The decoder of the bytes in which a server stores filters.
  private static var filter: FuzzedDecoder {
    FuzzedDecoder("filter-bytes") {
      let texts = try NetworkCorpus.kept.samples("rule-text")
      let made = texts.compactMap { text -> [UInt8]? in
        let filter = try? parse(String(decoding: text, as: UTF8.self), .rule)
        return filter.map { written($0) }
      }
      return FuzzedDecoder.Trial(
        samples: try made + NetworkCorpus.kept.samples("filter-bytes"), mutator: ByteMutator(.binary),
        memory: memory
      ) { bytes, _ in
        guard let filter = read(bytes) else { return false }
        try check(filter)
        return true
      }
    }
  }

  private static func written(_ filter: FieldFilter) -> [UInt8] {
    var bytes: [UInt8] = []
    filter.append(to: &bytes)
    return bytes
  }

  private static func read(_ bytes: [UInt8]) -> FieldFilter? {
    var reader = ByteReader(bytes)
    guard let filter = FieldFilter(&reader), reader.isAtEnd else { return nil }
    return filter
  }

  /// Checks that a filter is the same after it is stored and read, and can be applied to any object.
  private static func check(_ filter: FieldFilter) throws {
    guard filter.terms.count <= FieldFilter.mostTerms else {
      throw FuzzFailure("a filter has too many terms")
    }
    let bytes = written(filter)
    guard let again = read(bytes), again == filter, written(again) == bytes else {
      throw FuzzFailure("a filter is read as another one when it is written again")
    }
    for object in objects {
      let isFound = filter.matches(object, of: fields, asking)
      guard again.matches(object, of: fields, asking) == isFound else {
        throw FuzzFailure("a filter finds other objects when it is written again")
      }
    }
  }
}
