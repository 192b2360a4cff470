import RealmQuery
import RealmStorage

/// One side of a test.
struct FilterSide {
  enum Content {
    case field(String, ColumnType?)
    /// A value that the server knows of the user, by its name.
    case user(String)
    case partition
    case constant(QuerySyntax.Constant)
    case list([QuerySyntax.Constant])
  }

  var content: Content
  var isAny: Bool
  var range: SourceRange
}

/// A test of two sides.
struct FilterTest {
  var left: FilterSide
  var right: FilterSide
  let testOperator: QuerySyntax.TestOperator
  /// True if the test has to hold, false if it must not hold.
  let isWanted: Bool
  let range: SourceRange
}

extension FilterReader {
  /// Returns the side of a test that a node stands for.
  func operand(_ place: Int) throws(FilterProblem) -> FilterSide {
    let node = syntax.nodes[place]
    let content: FilterSide.Content
    switch node.kind {
    case .constant(let constant): content = .constant(constant)
    case .list(let elements): content = .list(try list(elements))
    case .path(let path): content = try side(path, node.range)
    case .argument:
      throw problem("There are no arguments here: write the values into the text", at: node.range)
    case .arithmetic:
      throw problem("Filters do not compute: compare a property with a constant", at: node.range)
    case .subquery:
      throw problem("Filters have no SUBQUERY: compare properties of the object itself", at: node.range)
    case .shape: throw problem("Filters know no GEOWITHIN: compare numbers instead", at: node.range)
    case .always, .never, .and, .or, .not, .test:
      throw problem("A condition can't be compared: compare a property with a constant", at: node.range)
    }
    if let quantifier = node.quantifier {
      guard quantifier == .any, case .user = content else {
        throw problem(
          "Filters have ANY before what a user has, such as `ANY $user.roles == \"admin\"` in rules, and no "
            + "other ANY, ALL and NONE: compare a property that has one value", at: node.range)
      }
    }
    return FilterSide(content: content, isAny: node.quantifier != nil, range: node.range)
  }

  private func list(_ elements: [Int]) throws(FilterProblem) -> [QuerySyntax.Constant] {
    var constants: [QuerySyntax.Constant] = []
    for element in elements {
      guard case .constant(let constant) = syntax.nodes[element].kind else {
        throw problem(
          "A list of a filter has constants only: write the values into the text",
          at: syntax.nodes[element].range)
      }
      constants.append(constant)
    }
    return constants
  }

  private func side(
    _ path: QuerySyntax.Path, _ range: SourceRange
  ) throws(FilterProblem) -> FilterSide.Content {
    switch path.start {
    case .object:
      guard path.steps.count == 1, case .name(let name) = path.steps[0] else {
        throw problem(
          "Filters look at properties of the object itself, and not behind links or into collections: "
            + "copy what is needed into a property of \(FilterProblem.shown(table))", at: range)
      }
      // Equal names may have different bytes, so the name of the field itself is taken.
      guard let field = fields.first(where: { $0 == name }) else { throw notAllowed(name, range) }
      return .field(field, type(field))
    case .variable(let variable): return try side(ofVariable: variable, path, range)
    case .argument, .selfWord:
      throw problem("A path starts with the name of a property", at: range)
    }
  }

  private func notAllowed(_ name: String, _ range: SourceRange) -> FilterProblem {
    let known = fields.prefix(8).map { FilterProblem.shown($0) }.joined(separator: ", ")
    let others = fields.isEmpty ? "none may" : fields.count > 8 ? "\(known) and others may" : "\(known) may"
    return problem(
      "The property \(FilterProblem.shown(name)) of \(FilterProblem.shown(table)) may not be used in "
        + "filters; \(others). Add it to the queryable fields of the server, or use another one",
      code: FilterProblem.Code.propertyNotAllowed, at: range)
  }

  private func side(
    ofVariable variable: String, _ path: QuerySyntax.Path, _ range: SourceRange
  ) throws(FilterProblem) -> FilterSide.Content {
    guard variable == "$user" || variable == "$partition" else {
      throw problem("Filters know no variable \(FilterProblem.shown(variable))", at: range)
    }
    guard purpose == .rule else {
      throw problem(
        "\(variable) stands in the rules of the server only: write the value itself into a query", at: range)
    }
    if variable == "$partition", path.steps.isEmpty { return .partition }
    var names: [String] = []
    for step in path.steps {
      switch step {
      case .name(let name), .key(let name): names.append(name)
      default: names = ["", "", ""]
      }
    }
    switch (variable, names.first, names.count) {
    case ("$user", "id", 1), ("$user", "roles", 1), ("$user", "custom_data", 2):
      return .user(names.joined(separator: "."))
    default:
      throw problem(
        "Rules know $user.id, $user.roles, $user.custom_data with one name behind it, and $partition",
        at: range)
    }
  }

  // MARK: - Constants

  /// Returns a constant as a value of a property's type.
  ///
  /// - Parameters:
  ///   - field: the property that the constant is compared with; nil if it is compared with a value of the user.
  ///   - type: the type of the property; nil if it is not known.
  func value(
    _ constant: QuerySyntax.Constant, for field: String?, _ type: ColumnType?, _ range: SourceRange
  ) throws(FilterProblem) -> Value {
    guard let plain = plain(constant) else {
      throw problem(
        "Filters can't name objects: compare a property with a number, a text, a date or an id", at: range)
    }
    guard let field, let type, plain != .null else { return plain }
    guard let value = adapted(plain, constant, to: type) else {
      throw problem(
        "The property \(FilterProblem.shown(field)) of \(FilterProblem.shown(table)) is \(type.filterName), "
          + "and is compared with \(plain.filterName): write a constant of its type", at: range)
    }
    return value
  }

  /// The value of a constant in the type in which it is written; nil for objects.
  private func plain(_ constant: QuerySyntax.Constant) -> Value? {
    switch constant {
    case .value(.link), .value(.typedLink), .object: nil
    case .value(let value): value
    case .real(let literal): literal.isFloat ? .float(Float(literal.number)) : .double(literal.number)
    }
  }

  /// Returns a value of the type, or a number that can be compared exactly with values of the type; nil for other
  /// values. Numbers are converted as in queries: for a property of floats, 0.1 becomes the float that is nearest to
  /// it.
  private func adapted(_ value: Value, _ constant: QuerySyntax.Constant, to type: ColumnType) -> Value? {
    switch (type, value) {
    case (.mixed, _), (.bool, .bool), (.int64, .int), (.string, .string), (.data, .data), (.date, .date),
      (.objectID, .objectID), (.uuid, .uuid), (.float, .float), (.double, .double):
      value
    case (.int64, .float(let number)): whole(Double(number), value)
    case (.int64, .double(let number)): whole(number, value)
    case (.float, .double(let number)): .float(Float(number))
    case (.float, .int(let number)): Float(exactly: number).map { .float($0) } ?? value
    case (.double, .int(let number)): Double(exactly: number).map { .double($0) } ?? value
    case (.double, .float(let number)): .double(Double(number))
    case (.decimal128, .int(let number)): .decimal128(DecimalNumber(number).stored)
    case (.decimal128, _):
      if case .real(let literal) = constant {
        DecimalNumber(parsing: literal.text).map { .decimal128($0.stored) }
      } else {
        nil
      }
    default: nil
    }
  }

  private func whole(_ number: Double, _ value: Value) -> Value? {
    guard number.isFinite else { return nil }
    return Int64(exactly: number).map { .int($0) } ?? value
  }
}

extension ColumnType {
  /// The name of the type in messages.
  fileprivate var filterName: String {
    switch self {
    case .bool: "a truth value (bool)"
    case .int64: "a whole number (int)"
    case .float: "a number (float)"
    case .double: "a number (double)"
    case .string: "a text (string)"
    case .data: "bytes (data)"
    case .date: "a date"
    case .objectID: "an object id (objectId)"
    case .uuid: "a UUID"
    case .decimal128: "a decimal (decimal128)"
    case .link: "a link"
    case .mixed: "of any type (mixed)"
    }
  }
}

extension Value {
  /// The name of the value's type in messages.
  fileprivate var filterName: String {
    switch self {
    case .null: "null"
    case .bool: ColumnType.bool.filterName
    case .int: ColumnType.int64.filterName
    case .float: ColumnType.float.filterName
    case .double: ColumnType.double.filterName
    case .string: ColumnType.string.filterName
    case .data: ColumnType.data.filterName
    case .date: ColumnType.date.filterName
    case .objectID: ColumnType.objectID.filterName
    case .uuid: ColumnType.uuid.filterName
    case .decimal128: ColumnType.decimal128.filterName
    case .link, .typedLink: ColumnType.link.filterName
    case .list, .map: "a collection"
    }
  }
}
