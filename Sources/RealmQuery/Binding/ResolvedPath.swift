import RealmStorage

/// A path whose names have been looked up.
struct ResolvedPath {
  enum Form: Equatable {
    /// The values of a column, or the elements of its collection.
    case value
    /// The rows themselves.
    case row
    /// What stands in a collection, or in a mixed value.
    case inner
    /// The keys of a map.
    case keys
    case count
    case length
    /// The type of each value.
    case type
    case aggregate(QuerySyntax.Aggregate)
    case subquery
  }

  var steps: [ValuePath.Step] = []
  var end: ValuePath.End
  /// What its values are.
  var type: ColumnType
  /// The table that its links lead to; 0 where its values are no links.
  var target: UInt32 = 0
  var form: Form
  /// Whether the values may be null.
  var isOptional = false
  /// Whether collections of links, or inverse links, are followed on the way.
  var isOverMany = false
  /// Whether it ends in a collection as a whole.
  var isCollection = false
  /// Whether it goes to each element of something.
  var isInnerMany = false
  /// The table that the steps lead to.
  var owner: QueryTable

  /// Whether a row gives a sequence of values, and not one.
  var isMany: Bool { isOverMany || isCollection || isInnerMany }

  /// Whether it is one value of the row itself.
  var isDirect: Bool { steps.isEmpty && form == .value && !isCollection }

  /// Whether it ends in links of which a row may have several.
  var isToManyLink: Bool { type == .link && isMany }

  var expression: Expression { .path(ValuePath(steps, end)) }

  /// The way to the one column that it ends in, over links only.
  var columnPath: ColumnPath? {
    guard case .value(let column) = end else { return nil }
    var links: [Int] = []
    for step in steps {
      guard case .links(let link) = step else { return nil }
      links.append(link)
    }
    return ColumnPath(links: links, column: column)
  }

  /// What messages call it.
  var label: String {
    switch end {
    case .value(let column), .inner(let column, _), .keys(let column): property(column)
    case .property(_, of: let end):
      switch end {
      case .value(let column), .inner(let column, _): property(column)
      default: "`\(owner.name)`"
      }
    default: "`\(owner.name)`"
    }
  }

  private func property(_ column: Int) -> String {
    "`\(owner.name).\(owner.schema.columns[column].name)`"
  }

  /// What messages say of its values.
  var typeName: String { isToManyLink ? "several objects" : type.messageName }
}

extension ColumnType {
  /// What messages call a value of it.
  var messageName: String {
    switch self {
    case .bool: "a boolean"
    case .int64: "an integer"
    case .float: "a float"
    case .double: "a double"
    case .string: "a string"
    case .data: "data"
    case .date: "a date"
    case .objectID: "an object id"
    case .uuid: "a UUID"
    case .decimal128: "a decimal"
    case .link: "an object"
    case .mixed: "a value of any type"
    }
  }

  /// Whether its values are ordered by queries.
  var isOrdered: Bool { self != .link }
  /// Whether it holds texts or bytes, or may do so.
  var mayBeText: Bool { self == .string || self == .data || self == .mixed }
}
