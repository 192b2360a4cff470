import RealmStorage

/// A path whose names have been looked up.
struct ResolvedPath {
  enum Form: Equatable {
    /// The values of a column, or the elements of its collection.
    case value
    /// The rows themselves.
    case row
    /// The values at an index or a key: elements of a collection, or parts of a value of any type.
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
  /// The type of the values at the end of the path.
  var type: ColumnType
  /// The id of the table that the links lead to; 0 if the values are not links.
  var target: UInt32 = 0
  var form: Form
  /// Whether the values may be null.
  var isOptional = false
  /// Whether the path leads over collections of links or over inverse links.
  var isOverMany = false
  /// Whether the path ends in a whole collection.
  var isCollection = false
  /// Whether the path leads to each element of a collection, or to each part of a value of any type.
  var isInnerMany = false
  /// The table that the steps lead to.
  var owner: QueryTable

  /// Whether a row gives a sequence of values, and not one value.
  var isMany: Bool { isOverMany || isCollection || isInnerMany }

  /// Whether the path is a property of the row itself that has one value.
  var isDirect: Bool { steps.isEmpty && form == .value && !isCollection }

  /// Whether the path ends in links, and a row may have several of them.
  var isToManyLink: Bool { type == .link && isMany }

  var expression: Expression { .path(ValuePath(steps, end)) }

  /// The path as links and one column; nil if it has an inverse link or does not end in the values of a column.
  var columnPath: ColumnPath? {
    guard case .value(let column) = end else { return nil }
    var links: [Int] = []
    for step in steps {
      guard case .links(let link) = step else { return nil }
      links.append(link)
    }
    return ColumnPath(links: links, column: column)
  }

  /// The name of the path in messages.
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

  /// The description of the values in messages.
  var typeName: String { isToManyLink ? "several objects" : type.messageName }
}

extension ColumnType {
  /// The description of a value of this type in messages.
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

  /// Whether queries order the values of this type.
  var isOrdered: Bool { self != .link }
  /// Whether a value of this type is text or data, or may be.
  var mayBeText: Bool { self == .string || self == .data || self == .mixed }
}
