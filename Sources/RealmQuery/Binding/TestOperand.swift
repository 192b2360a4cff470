import RealmStorage

/// A constant, as a query or an argument gives it.
struct BoundConstant {
  var value: Value
  /// The digits of a number that was written with a fraction or an exponent; nil for other constants.
  var literal: QuerySyntax.RealLiteral?
  var isArgument = false
  var range: SourceRange

  /// The kind of an error about this constant.
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
  /// Whether the list comes from an argument.
  var isArgument = false

  var path: ResolvedPath? { if case .path(let path) = content { path } else { nil } }
  var list: [BoundConstant]? { if case .list(let list) = content { list } else { nil } }
  var constant: BoundConstant? { if case .constant(let constant) = content { constant } else { nil } }

  /// Whether no path is part of this operand.
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

  /// The type of the values; nil for constants, lists and arithmetic without paths.
  var type: ColumnType? {
    switch content {
    case .constant, .list: nil
    case .path(let path): path.type
    case .arithmetic(let arithmetic): arithmetic.hasPaths ? arithmetic.type : nil
    }
  }
}

/// A chain of arithmetic whose names are looked up.
struct BoundArithmetic {
  /// The parts, in the order of computation: operands, and operations on the operands before them.
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
  /// The test of text that an operator stands for; nil if it is another operator.
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
  /// The comparison that gives the same result if the sides are exchanged.
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
