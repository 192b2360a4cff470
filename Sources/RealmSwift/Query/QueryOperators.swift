import RealmStorage

// MARK: - Logic

/// The condition does not hold. Where it asks for an element of a collection: no element passes.
public prefix func ! (query: Query<Bool>) -> Query<Bool> { Query(.condition(query.node.condition.negated)) }

/// Both conditions hold. On a collection, each may hold of another element. Any number of conditions may be joined.
public func && (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
  Query(.condition(left.node.condition.and(right.node.condition)))
}

/// One of the conditions holds, or both do.
public func || (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
  Query(.condition(left.node.condition.or(right.node.condition)))
}

// MARK: - Comparison

/// The value equals another: numbers by their value, texts and data by their bytes.
///
/// Null equals null only, and NaN equals nothing. Of a collection, one element is to be equal. A condition
/// may be compared with true and false.
public func == <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> {
  left.compared(.equal, right)
}
/// The value does not equal another.
///
/// Null differs from all but null, and NaN from everything. Of a collection, one element is to differ; that
/// all do is asked by `!` before `==`.
public func != <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> {
  left.compared(.notEqual, right)
}

/// The value is less than another: a number by its value, a date by its moment.
///
/// Null and NaN are neither less nor greater.
public func < <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.less, right)
}
/// The value is less than another, or equals it.
///
/// Of null this holds where both are null, of NaN never.
public func <= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.lessOrEqual, right)
}
/// The value is greater than another: a number by its value, a date by its moment.
///
/// Null and NaN are neither less nor greater.
public func > <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.greater, right)
}
/// The value is greater than another, or equals it.
///
/// Of null this holds where both are null, of NaN never.
public func >= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.greaterOrEqual, right)
}

/// The value is less than another: a text by its UTF-8 bytes, data by its bytes.
///
/// A string property of the object itself that is null is less than every string. Any other null, behind
/// a link, in a collection or of data, is neither less nor greater.
public func < <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> where T.PersistedType: _QueryBinary {
  left.compared(.less, right)
}
/// The value is less than another, or equals it; in the order that `<` has.
///
/// Null equals null only. A string property of the object itself that is null is less than every string.
public func <= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryBinary {
  left.compared(.lessOrEqual, right)
}
/// The value is greater than another: a text by its UTF-8 bytes, data by its bytes.
///
/// Null is not greater than anything. A string property of the object itself that is not null is greater
/// than null.
public func > <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> where T.PersistedType: _QueryBinary {
  left.compared(.greater, right)
}
/// The value is greater than another, or equals it; in the order that `>` has.
///
/// Null equals null only. A string property of the object itself that is not null is greater than null.
public func >= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryBinary {
  left.compared(.greaterOrEqual, right)
}

/// One element equals a value, or nil.
public func == <T: RealmCollection>(left: Query<T>, right: T.Element) -> Query<Bool> { left.contains(right) }
/// One element differs from a value. That all do is asked by `!` before `contains`.
public func != <T: RealmCollection>(left: Query<T>, right: T.Element) -> Query<Bool> {
  Query<Bool>(.condition(.compare(left.node.names, .notEqual) { right._elementValue($0) }))
}

extension Query where T: _Persistable {
  /// The value equals one of these.
  public func `in`<U: Sequence>(_ values: U) -> Query<Bool> where U.Element == T {
    if isCount {
      return values.reduce(Query<Bool>(.condition(.never))) { found, value in found || compared(.equal, value)
      }
    }
    return Query<Bool>(.condition(.isIn(node.names, values.map { value in { value._stored($0) } })))
  }
}

/// Of values that link to nothing.
func noRow(_: ObjectBase) -> UInt64? { nil }

// MARK: - Texts

/// How texts are compared.
public struct StringOptions: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Capital letters equal small ones, by simple case folding of Unicode 14.0; in data A to Z, and À to Þ but ×, in UTF-8.
  public static let caseInsensitive = StringOptions(rawValue: 1)
  /// Letters equal those with accents and other nonspacing marks, by Unicode 14.0. Data is compared by its bytes.
  public static let diacriticInsensitive = StringOptions(rawValue: 2)

  /// The same for the engine.
  fileprivate var textOptions: TextOptions {
    var options: TextOptions = []
    if contains(.caseInsensitive) { options.insert(.ignoringCase) }
    if contains(.diacriticInsensitive) { options.insert(.ignoringDiacritics) }
    return options
  }
}

extension Query where T: _Persistable, T.PersistedType: _QueryBinary {
  /// The value contains another. Nothing contains an empty one.
  public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> {
    text(.contains, value, options)
  }

  /// The value starts with another. Nothing starts with an empty one.
  public func starts(with value: T, options: StringOptions = []) -> Query<Bool> {
    text(.begins, value, options)
  }

  /// The value ends with another. Nothing ends with an empty one.
  public func ends(with value: T, options: StringOptions = []) -> Query<Bool> { text(.ends, value, options) }

  /// The value fits a pattern: `*` stands for any characters, `?` for one.
  public func like(_ pattern: T, caseInsensitive: Bool = false) -> Query<Bool> {
    text(.like, pattern, caseInsensitive ? .caseInsensitive : [])
  }

  /// The value equals another. Null equals null only.
  public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> { text(.equal, value, options) }

  /// The value does not equal another. Null differs from all but null.
  public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
    text(.notEqual, value, options)
  }

  private func text(_ match: TextMatch, _ value: T, _ options: StringOptions) -> Query<Bool> {
    Query<Bool>(.condition(.text(node.names, match, value._stored(noRow), options.textOptions)))
  }
}
