/// A token of a predicate format.
struct FormatToken: Equatable {
  enum Kind: Equatable {
    case symbol(Symbol)
    /// A name or a keyword. A word behind `#` is never a keyword.
    case word(Keyword?)
    /// A name behind `$`.
    case variable
    /// A name behind `@`.
    case pathOperator
    case integer(UInt64)
    case real
    case string(String)
    /// A specifier of a value, with the position of its argument.
    case argument(Int)
    /// `%K`, with the position of its argument.
    case keyPath(Int)
    case end
  }

  var kind: Kind
  var range: SourceRange

  var keyword: Keyword? { if case .word(let keyword) = kind { keyword } else { nil } }
  func isSymbol(_ symbol: Symbol) -> Bool { kind == .symbol(symbol) }
}
