import RealmStorage

/// A constant, as a query or an argument gives it.
struct BoundConstant {
  var value: Value
  /// The digits, where it was written as a number with a fraction or an exponent.
  var literal: QuerySyntax.RealLiteral?
  var isArgument = false
  var range: SourceRange

  /// The kind of an error about it.
  var errorKind: QueryError.Kind { isArgument ? .invalidArgument : .invalidQuery }
}

/// One side of a test.
struct TestOperand {
  enum Content {
    case constant(BoundConstant)
    case list([BoundConstant])
    case path(ResolvedPath)
    case arithmetic(BoundArithmetic)
  }

  var content: Content
  var quantifier: Relation.Quantifier?
  var range: SourceRange
  /// Whether a list comes from an argument.
  var isArgument = false

  var path: ResolvedPath? { if case .path(let path) = content { path } else { nil } }
  var list: [BoundConstant]? { if case .list(let list) = content { list } else { nil } }
  var constant: BoundConstant? { if case .constant(let constant) = content { constant } else { nil } }

  /// Whether it has no path in it.
  var isConstant: Bool {
    switch content {
    case .constant, .list: true
    case .path: false
    case .arithmetic(let arithmetic): !arithmetic.hasPaths
    }
  }

  var isMany: Bool {
    switch content {
    case .constant: false
    case .list: true
    case .path(let path): path.isMany
    case .arithmetic(let arithmetic): arithmetic.isMany
    }
  }

  /// What its values are; nil of constants.
  var type: ColumnType? {
    switch content {
    case .constant, .list: nil
    case .path(let path): path.type
    case .arithmetic(let arithmetic): arithmetic.hasPaths ? arithmetic.type : nil
    }
  }
}

/// What a chain of arithmetic computes.
struct BoundArithmetic {
  /// In the order of computation.
  var parts: [Expression.Part]
  var type: ColumnType
  var hasPaths: Bool
  var isMany: Bool
}

extension Relation.Quantifier {
  init(_ quantifier: QuerySyntax.Quantifier) {
    self =
      switch quantifier {
      case .any: .any
      case .all: .all
      case .none: .none
      }
  }
}

extension TextOptions {
  init(_ options: QuerySyntax.TestOptions) {
    self = []
    if options.contains(.ignoringCase) { insert(.ignoringCase) }
    if options.contains(.latin1Case) { insert(.latin1Case) }
    if options.contains(.ignoringDiacritics) { insert(.ignoringDiacritics) }
  }
}

extension TextMatch {
  /// The test of a text that an operator stands for; nil where it stands for none.
  init?(_ testOperator: QuerySyntax.TestOperator) {
    switch testOperator {
    case .contains: self = .contains
    case .beginsWith: self = .begins
    case .endsWith: self = .ends
    case .like: self = .like
    default: return nil
    }
  }
}

extension Comparison {
  /// The same with the sides exchanged.
  var mirrored: Comparison {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .equal, .notEqual: self
    }
  }

  var isOrder: Bool { self != .equal && self != .notEqual }
}
