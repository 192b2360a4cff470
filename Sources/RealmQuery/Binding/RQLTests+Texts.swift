import RealmStorage

extension BindingRun {
  /// A test with CONTAINS, BEGINSWITH, ENDSWITH or LIKE.
  func rqlText(
    _ left: TestOperand, _ match: TextMatch, _ right: TestOperand, _ test: TestSyntax
  ) throws(QueryError) -> Predicate {
    let options = TextOptions(test.options)
    try checkTexts(left, right)
    switch right.content {
    case .constant(let constant): return textTest(left, match, constant.value, options)
    case .list(let elements) where (left.quantifier ?? .any) == .any && (right.quantifier ?? .any) == .any:
      return .or(elements.map { textTest(left, match, $0.value, options) })
    case .list(let elements):
      return .relation(
        Relation(
          side(left), .text(match, options: options),
          .init(.list(elements.map(\.value)), right.quantifier)))
    case .path(let path):
      let relation = Predicate.relation(
        Relation(side(left), .text(match, options: options), side(right)))
      guard !left.isMany, !path.isMany, match != .like else { return relation }
      // An empty text is in each value that is not null. Null is in each value of a property of the object itself.
      let isEmpty = Predicate.test(side(right), .compare(.equal), .init(.constant(.string(""))))
      let isNoData = Predicate.test(side(right), .compare(.equal), .init(.constant(.data([]))))
      let isThere = Predicate.test(side(left), .compare(.notEqual), .init(.constant(.null)))
      let found = Predicate.or([relation, .and([.or([isEmpty, isNoData]), isThere])])
      guard left.path?.isDirect ?? false else { return found }
      return .or([found, .test(side(right), .compare(.equal), .init(.constant(.null)))])
    case .arithmetic: throw invalid("\(textNeeded), and not arithmetic", right.range)
    }
  }

  private var textNeeded: String { "This operator needs a string or data on its right" }

  private func side(_ operand: TestOperand) -> Relation.Side {
    let expression: Expression =
      switch operand.content {
      case .path(let path): path.expression
      case .constant(let constant): .constant(constant.value)
      case .list(let elements): .list(elements.map(\.value))
      case .arithmetic(let arithmetic): .computed(arithmetic.parts)
      }
    return Relation.Side(expression, operand.quantifier)
  }

  /// Throws unless both sides can be texts of the same kind: both strings, or both data.
  private func checkTexts(_ left: TestOperand, _ right: TestOperand) throws(QueryError) {
    func kind(_ operand: TestOperand) -> ColumnType? {
      switch operand.content {
      case .path(let path): return path.form == .type ? .int64 : path.type
      case .arithmetic(let arithmetic): return arithmetic.type
      case .list: return nil
      case .constant(let constant):
        switch constant.value {
        case .string: return .string
        case .data: return .data
        case .null: return nil
        default: return .int64
        }
      }
    }
    let (one, two) = (kind(left), kind(right))
    guard two?.mayBeText ?? true else { throw invalid(textNeeded, right.range) }
    let isMixedUp = one == .string && two == .data || one == .data && two == .string
    guard !isMixedUp else {
      throw invalid(
        "A string can't be compared with data: both sides must be strings, or both must be data", right.range)
    }
  }

  private func textTest(
    _ left: TestOperand, _ match: TextMatch, _ value: Value, _ options: TextOptions
  ) -> Predicate {
    guard let path = left.path else {
      return .relation(Relation(side(left), .text(match, options: options), .init(.constant(value))))
    }
    if match != .like, let found = emptyTest(left, path, match, value) { return found }
    guard path.type.mayBeText, path.form == .value else {
      // The relation never matches a value that is not text. The engine's tests of columns may do so.
      return .relation(Relation(side(left), .text(match, options: options), .init(.constant(value))))
    }
    return .test(side(left), .text(match, options: options), .init(.constant(value)))
  }

  /// The test for a constant that is null or empty, because each text contains an empty one; nil for other constants.
  private func emptyTest(
    _ left: TestOperand, _ path: ResolvedPath, _ match: TextMatch, _ value: Value
  ) -> Predicate? {
    let kind: ValueType?
    switch value {
    case .null:
      if path.isDirect, path.type.mayBeText { return .always }
      if path.isCollection || match == .contains, path.type.mayBeText { kind = nil } else { return nil }
    case .string(let text) where text.isEmpty: kind = .string
    case .data(let bytes) where bytes.isEmpty: kind = .data
    default: return nil
    }
    guard path.type.mayBeText else { return nil }
    guard path.type == .mixed, let kind else {
      return .test(side(left), .compare(.notEqual), .init(.constant(.null)))
    }
    let types = ValuePath(path.steps, .property(.type, of: path.end))
    return .test(
      .init(.path(types), left.quantifier), .compare(.equal), .init(.constant(.int(kind.rawValue))))
  }

  // MARK: Types

  /// The test of the type that `@type` gives.
  func typeTest(
    _ left: TestOperand, _ comparison: Comparison, _ right: TestOperand, _ test: TestSyntax
  ) throws(QueryError) -> Predicate {
    guard !comparison.isOrder else { throw invalid("Types have no order: use ==, != or IN", test.range) }
    if left.path?.form == .type, right.path?.form == .type {
      return .test(side(left), .compare(comparison), side(right))
    }
    guard left.path?.form == .type else {
      guard left.isConstant else {
        throw error(.invalidArgument, "@type can only be compared with the name of a type", left.range)
      }
      return try typeTest(right, comparison.mirrored, left, test)
    }
    var codes: [Value] = []
    switch right.content {
    case .constant(let constant): codes = try types(constant)
    case .list(let elements): for element in elements { codes += try types(element) }
    case .path, .arithmetic:
      throw error(.invalidArgument, "@type can only be compared with the name of a type", right.range)
    }
    if codes.count == 1, right.list == nil {
      return .test(side(left), .compare(comparison), .init(.constant(codes[0])))
    }
    // A name may stand for several types. `==` then needs one of them, and `!=` needs none of them.
    let isList = right.list != nil
    let quantifier: Relation.Quantifier? =
      isList ? right.quantifier ?? .any : comparison == .equal ? .any : .all
    return .relation(
      Relation(
        .init(side(left).expression, left.quantifier ?? .any), .compare(comparison),
        .init(.list(codes), quantifier)))
  }

  private func types(_ constant: BoundConstant) throws(QueryError) -> [Value] {
    guard case .string(let name) = constant.value, let types = Self.types[name.lowercased()] else {
      let word = if case .string(let name) = constant.value { name } else { "" }
      throw error(
        .invalidArgument, "There is no type with this name", constant.range,
        suggestion: Misspelling.nearest(to: word, among: Self.types.keys.sorted()))
    }
    return types.map { .int($0.rawValue) }
  }

  private static let types: [String: [ValueType]] = {
    let names: [(ValueType, String)] = [
      (.null, "null"), (.int, "int integer int16 int32 int64 short long byte char"), (.bool, "bool boolean"),
      (.string, "string"), (.data, "binary data bytearray byte[] bindata"),
      (.date, "date datetimeoffset timestamp"), (.float, "float"), (.double, "double"),
      (.decimal128, "decimal decimal128"), (.link, "objectlink link"), (.objectID, "objectid"),
      (.uuid, "uuid guid"), (.map, "object dictionary"), (.list, "array list"),
    ]
    var types: [String: [ValueType]] = [
      "numeric": [.int, .float, .double, .decimal128], "collection": [.list, .map],
    ]
    for (type, words) in names {
      for word in words.split(separator: " ") { types[String(word)] = [type] }
    }
    return types
  }()
}
