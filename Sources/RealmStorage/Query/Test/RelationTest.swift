/// A test of one expression against another: both are computed for each row.
final class RelationTest: ClusterTest {
  private let left: BoundExpression
  private let right: BoundExpression
  private let relation: Relation
  private let ordersNull: Bool
  /// The prepared test of the right side's text, if that is a constant.
  private let text: TextTest?
  /// The texts of the right side, if one of several constants must be equal.
  private let texts: FoldedTexts?
  private var lefts: Groups
  private var rights: Groups

  override var cost: Int { 1_000 }

  init(_ relation: Relation, of table: TableForm, _ builder: TestBuilder) throws(StorageError) {
    self.relation = relation
    left = try BoundExpression(relation.left.expression, of: table, builder)
    right = try BoundExpression(relation.right.expression, of: table, builder)
    ordersNull =
      (left.ordersNull || right.ordersNull) && (left.ordersNull || left.isConstant)
      && (right.ordersNull || right.isConstant)
    if case .text(let match, let options) = relation.test, let value = relation.right.expression.constant {
      text = TextTest(match, value, options)
    } else {
      text = nil
    }
    let isPlain = relation.left.quantifier == nil && relation.right.quantifier == nil
    if case .text(.equal, let options) = relation.test, let values = relation.right.expression.list,
      relation.right.quantifier ?? .any == .any, !isPlain || !left.isMany
    {
      texts = FoldedTexts(values, options)
    } else {
      texts = nil
    }
    // Two sequences are compared place by place.
    let kind: Groups.Kind = isPlain && left.isMany && right.isMany ? .sequence : .each
    lefts = Groups(left.needsSequences ? .sequence : kind)
    rights = Groups(right.needsSequences ? .sequence : kind)
    super.init()
    if right.isConstant { right.fill(&rights) }
    if left.isConstant { left.fill(&lefts) }
  }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    var found = RowMask.none
    try rows.forEach { (row) throws(StorageError) in
      if !left.isConstant { try left.compute(row, of: cluster, access, into: &lefts) }
      if !right.isConstant { try right.compute(row, of: cluster, access, into: &rights) }
      if holds() { found.insert(row) }
    }
    return found
  }

  /// Whether the test holds for one group of the left side and one group of the right side.
  private func holds() -> Bool {
    for group in 0..<lefts.count {
      for other in 0..<rights.count where holds(lefts[group], rights[other]) { return true }
    }
    return false
  }

  private func holds(_ left: ArraySlice<Value>, _ right: ArraySlice<Value>) -> Bool {
    let hasQuantifier = relation.left.quantifier != nil || relation.right.quantifier != nil
    if !hasQuantifier, self.left.isMany, self.right.isMany {
      guard left.count == right.count else { return relation.test == .compare(.notEqual) }
      return zip(left, right).allSatisfy { passes($0, $1) }
    }
    if let texts { return quantified(relation.left.quantifier, left) { texts.contains($0) } }
    return quantified(relation.left.quantifier, left) { value in
      quantified(relation.right.quantifier, right) { passes(value, $0) }
    }
  }

  private func quantified(
    _ quantifier: Relation.Quantifier?, _ values: ArraySlice<Value>, _ passes: (Value) -> Bool
  ) -> Bool {
    switch quantifier ?? .any {
    case .any: values.contains(where: passes)
    case .all: values.allSatisfy(passes)
    case .none: !values.contains(where: passes)
    }
  }

  private func passes(_ left: Value, _ right: Value) -> Bool {
    switch relation.test {
    case .compare(let comparison): comparison.holds(left, right, ordersNull: ordersNull)
    case .text(let match, let options): (text ?? TextTest(match, right, options)).holds(left)
    }
  }
}

/// An expression whose columns have been looked up.
struct BoundExpression {
  private enum Part {
    case constant(Value)
    case list([Value])
    case path(BoundValuePath)
    case arithmetic(Expression.Arithmetic)

    var isList: Bool { if case .list = self { true } else { false } }
  }

  private let parts: [Part]
  let isConstant: Bool
  /// Whether a row gives sequences.
  let isMany: Bool
  let ordersNull: Bool

  /// Whether an operation may take two sequences, which it does place by place.
  var needsSequences: Bool {
    parts.count > 1 && parts.count { if case .path(let path) = $0 { path.isMany } else { $0.isList } } > 1
  }

  init(
    _ expression: Expression, of table: TableForm, _ builder: TestBuilder
  ) throws(StorageError) {
    var parts: [Part] = []
    for part in expression.parts {
      switch part {
      case .constant(let value): parts.append(.constant(value))
      case .list(let values): parts.append(.list(values))
      case .path(let path): parts.append(.path(try BoundValuePath(path, of: table, builder)))
      case .arithmetic(let operation): parts.append(.arithmetic(operation))
      }
    }
    self.parts = parts
    isConstant = !parts.contains { if case .path = $0 { true } else { false } }
    isMany = parts.contains { part in
      switch part {
      case .list: true
      case .path(let path): path.isMany
      case .constant, .arithmetic: false
      }
    }
    if parts.count == 1, case .path(let path) = parts[0] {
      ordersNull = path.ordersNull
    } else {
      ordersNull = false
    }
  }

  /// Computes the groups of an expression without paths.
  func fill(_ groups: inout Groups) {
    groups.removeAll()
    if parts.count == 1, let found = Self.groups(parts[0]) {
      groups = found
    } else {
      groups = computed { Self.groups($0) ?? Groups() }
    }
  }

  private static func groups(_ part: Part) -> Groups? {
    var groups = Groups()
    switch part {
    case .constant(let value): groups.appendGroup(value)
    case .list(let values):
      for value in values { groups.append(value) }
      groups.endGroup()
    case .path, .arithmetic: return nil
    }
    return groups
  }

  func compute(
    _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess, into groups: inout Groups
  ) throws(StorageError) {
    groups.removeAll()
    if parts.count == 1, case .path(let path) = parts[0] {
      return try path.append(row, of: cluster, access, to: &groups)
    }
    var stack: [Groups] = []
    for part in parts {
      switch part {
      case .path(let path):
        var found = Groups(groups.kind)
        try path.append(row, of: cluster, access, to: &found)
        stack.append(found)
      case .arithmetic(let operation):
        let (right, left) = (stack.removeLast(), stack.removeLast())
        stack.append(operation.applied(left, right))
      case .constant, .list: stack.append(Self.groups(part) ?? Groups())
      }
    }
    groups = stack[0]
  }

  private func computed(_ operand: (Part) -> Groups) -> Groups {
    var stack: [Groups] = []
    for part in parts {
      if case .arithmetic(let operation) = part {
        let (right, left) = (stack.removeLast(), stack.removeLast())
        stack.append(operation.applied(left, right))
      } else {
        stack.append(operand(part))
      }
    }
    return stack[0]
  }
}

extension Expression.Arithmetic {
  /// The results for each group of the left side with each group of the right side. Two single values give one value. A
  /// single value and a sequence give a sequence, of the single value with each other one. Two sequences give as many
  /// values as the shorter one has.
  fileprivate func applied(_ left: Groups, _ right: Groups) -> Groups {
    var groups = Groups()
    for group in 0..<left.count {
      for other in 0..<right.count {
        let (ones, twos) = (left[group], right[other])
        if ones.count == 1, let one = ones.first {
          for two in twos { groups.append(applied(one, two)) }
        } else if twos.count == 1, let two = twos.first {
          for one in ones { groups.append(applied(one, two)) }
        } else {
          for (one, two) in zip(ones, twos) { groups.append(applied(one, two)) }
        }
        groups.endGroup()
      }
    }
    return groups
  }

  /// The result for two values; null if one of them is not a number.
  func applied(_ left: Value, _ right: Value) -> Value {
    switch (left, right) {
    case (.int(let left), .int(let right)): return .int(applied(left, right))
    case (.decimal128, _), (_, .decimal128):
      guard let left = DecimalNumber(left), let right = DecimalNumber(right) else { return .null }
      switch self {
      case .plus: return .decimal128((left + right).stored)
      case .minus: return .decimal128((left - right).stored)
      case .times: return .decimal128((left * right).stored)
      case .divided: return .decimal128((left / right).stored)
      }
    case (.float(let left), .float(let right)): return .float(applied(left, right))
    case (.float(let left), .int(let right)): return .float(applied(left, Float(right)))
    case (.int(let left), .float(let right)): return .float(applied(Float(left), right))
    default:
      guard let left = Value.double(of: left), let right = Value.double(of: right) else { return .null }
      return .double(applied(left, right))
    }
  }

  private func applied<Number: BinaryFloatingPoint>(_ left: Number, _ right: Number) -> Number {
    switch self {
    case .plus: left + right
    case .minus: left - right
    case .times: left * right
    case .divided: left / right
    }
  }

  /// The result for two whole numbers. If it does not fit 64 bits, it is the greatest or the least number that does.
  private func applied(_ left: Int64, _ right: Int64) -> Int64 {
    let isNegative: Bool
    let (result, overflows): (Int64, Bool)
    switch self {
    case .plus:
      (result, overflows) = left.addingReportingOverflow(right)
      isNegative = left < 0
    case .minus:
      (result, overflows) = left.subtractingReportingOverflow(right)
      isNegative = left < 0
    case .times:
      (result, overflows) = left.multipliedReportingOverflow(by: right)
      isNegative = (left < 0) != (right < 0)
    case .divided:
      if right == 0 { return left < 0 ? .min : .max }
      (result, overflows) = left.dividedReportingOverflow(by: right)
      isNegative = false
    }
    return overflows ? isNegative ? .min : .max : result
  }
}

extension Value {
  /// A number as a double; nil for decimals and for values that are no numbers.
  static func double(of value: Value) -> Double? {
    switch value {
    case .int(let number): Double(number)
    case .float(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }
}
