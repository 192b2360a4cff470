import RealmStorage

/// A token of RQL.
struct RQLToken: Equatable {
  enum Kind: Equatable {
    case symbol(Symbol)
    /// `[c]` or `[c1]`.
    case caseOption(QuerySyntax.TestOptions)
    /// A name or a keyword.
    case word(Keyword?)
    /// An operator of paths: a word behind `@`.
    case pathOperator(PathOperator)
    case integer(Int64, hasSign: Bool)
    case real(QuerySyntax.RealLiteral)
    /// The text between the quotation marks, with its escapes as they are.
    case string(String)
    case base64([UInt8])
    /// A date, a UUID, an object id or a link.
    case constant(Value)
    case argument(Int)
    case keyPathArgument(Int)
    case end
  }

  enum PathOperator: String, CaseIterable {
    case count = "@count"
    case size = "@size"
    case min = "@min"
    case max = "@max"
    case sum = "@sum"
    case average = "@avg"
    case keys = "@keys"
    case values = "@values"
    case type = "@type"
    case links = "@links"

    var aggregate: QuerySyntax.Aggregate? {
      switch self {
      case .min: .min
      case .max: .max
      case .sum: .sum
      case .average: .average
      default: nil
      }
    }
  }

  var kind: Kind
  var range: SourceRange

  var keyword: Keyword? { if case .word(let keyword) = kind { keyword } else { nil } }
  func isSymbol(_ symbol: Symbol) -> Bool { kind == .symbol(symbol) }
}
