import RealmQuery
import RealmStorage

// MARK: - Logic

/// The condition does not hold. Where it asks for an element of a collection: no element passes.
public prefix func ! (query: Query<Bool>) -> Query<Bool> { query.negated }

/// Both conditions hold. On a collection, each may hold of another element. Any number of conditions may be joined.
public func && (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
  let parts = [left.node(in: left.draft), right.node(in: left.draft)]
  return left.condition(.and(left.draft.distinct(parts)))
}

/// One of the conditions holds, or both do.
public func || (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
  let parts = [left.node(in: left.draft), right.node(in: left.draft)]
  return left.condition(.or(left.draft.distinct(parts)))
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

/// The value equals that of another property of the object.
public func == <T>(left: Query<T>, right: Query<T>) -> Query<Bool> { left.test(.compare(.equal), right) }
/// The value does not equal that of another property of the object.
public func != <T>(left: Query<T>, right: Query<T>) -> Query<Bool> { left.test(.compare(.notEqual), right) }

/// One element equals a value, or nil.
public func == <T: RealmCollection>(left: Query<T>, right: T.Element) -> Query<Bool> {
  left.anyElement(.equal, right)
}
/// One element differs from a value. That all do is asked by `!` before `contains`.
public func != <T: RealmCollection>(left: Query<T>, right: T.Element) -> Query<Bool> {
  left.anyElement(.notEqual, right)
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric {
  /// The value is less than another: a number by its value, a date by its moment.
  ///
  /// Null and NaN are neither less nor greater.
  public static func < (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.less, right)
  }
  /// The value is less than another, or equals it.
  ///
  /// Of null this holds where both are null, of NaN never.
  public static func <= (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.lessOrEqual, right)
  }
  /// The value is greater than another: a number by its value, a date by its moment.
  ///
  /// Null and NaN are neither less nor greater.
  public static func > (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.greater, right)
  }
  /// The value is greater than another, or equals it.
  ///
  /// Of null this holds where both are null, of NaN never.
  public static func >= (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.greaterOrEqual, right)
  }

  /// The value is less than that of another property of the object.
  public static func < (left: Query, right: Query) -> Query<Bool> { left.test(.compare(.less), right) }
  /// The value is less than that of another property of the object, or equals it.
  public static func <= (left: Query, right: Query) -> Query<Bool> {
    left.test(.compare(.lessOrEqual), right)
  }
  /// The value is greater than that of another property of the object.
  public static func > (left: Query, right: Query) -> Query<Bool> { left.test(.compare(.greater), right) }
  /// The value is greater than that of another property of the object, or equals it.
  public static func >= (left: Query, right: Query) -> Query<Bool> {
    left.test(.compare(.greaterOrEqual), right)
  }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryBinary {
  /// The value is less than another: a text by its UTF-8 bytes, data by its bytes.
  ///
  /// A string property of the object itself that is null is less than every string. Any other null, behind
  /// a link, in a collection or of data, is neither less nor greater.
  public static func < (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.less, right)
  }
  /// The value is less than another, or equals it; in the order that `<` has.
  ///
  /// Null equals null only. A string property of the object itself that is null is less than every string.
  public static func <= (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.lessOrEqual, right)
  }
  /// The value is greater than another: a text by its UTF-8 bytes, data by its bytes.
  ///
  /// Null is not greater than anything. A string property of the object itself that is not null is greater
  /// than null.
  public static func > (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.greater, right)
  }
  /// The value is greater than another, or equals it; in the order that `>` has.
  ///
  /// Null equals null only. A string property of the object itself that is not null is greater than null.
  public static func >= (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.greaterOrEqual, right)
  }

  /// The value is less than that of another property of the object, by the bytes.
  public static func < (left: Query, right: Query) -> Query<Bool> { left.test(.compare(.less), right) }
  /// The value is less than that of another property of the object, or equals it.
  public static func <= (left: Query, right: Query) -> Query<Bool> {
    left.test(.compare(.lessOrEqual), right)
  }
  /// The value is greater than that of another property of the object, by the bytes.
  public static func > (left: Query, right: Query) -> Query<Bool> { left.test(.compare(.greater), right) }
  /// The value is greater than that of another property of the object, or equals it.
  public static func >= (left: Query, right: Query) -> Query<Bool> {
    left.test(.compare(.greaterOrEqual), right)
  }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryNumeric {
  /// One element is less than a value.
  public static func < (left: Query, right: T.Element) -> Query<Bool> { left.anyElement(.less, right) }
  /// One element is less than a value, or equals it.
  public static func <= (left: Query, right: T.Element) -> Query<Bool> {
    left.anyElement(.lessOrEqual, right)
  }
  /// One element is greater than a value.
  public static func > (left: Query, right: T.Element) -> Query<Bool> { left.anyElement(.greater, right) }
  /// One element is greater than a value, or equals it.
  public static func >= (left: Query, right: T.Element) -> Query<Bool> {
    left.anyElement(.greaterOrEqual, right)
  }
}

extension Query {
  /// The value equals one of these.
  public func `in`<U: Sequence>(_ values: U) -> Query<Bool> where U.Element == T {
    test(.isIn, QueryValues(values.map { AnyQueryValue($0) }))
  }
}

extension Query where T: _Persistable {
  /// The value equals one of these.
  public func `in`<U: Sequence>(_ values: U) -> Query<Bool> where U.Element == T {
    test(.isIn, QueryValues(values.map { PropertyValue($0) }))
  }
}

// MARK: - Texts

/// How texts are compared.
public struct StringOptions: OptionSet, Sendable {
  public let rawValue: Int8
  public init(rawValue: Int8) { self.rawValue = rawValue }

  /// Capital letters equal small ones, by simple case folding of Unicode 14.0; in data A to Z, and À to Þ but ×, in UTF-8.
  public static let caseInsensitive = StringOptions(rawValue: 1)
  /// Letters equal those with accents and other nonspacing marks, by Unicode 14.0. Data is compared by its bytes.
  public static let diacriticInsensitive = StringOptions(rawValue: 2)

  /// The same for the text of a query.
  fileprivate var tested: QuerySyntax.TestOptions {
    var options: QuerySyntax.TestOptions = []
    if contains(.caseInsensitive) { options.insert(.ignoringCase) }
    if contains(.diacriticInsensitive) { options.insert(.ignoringDiacritics) }
    return options
  }
}

extension Query where T: _Persistable, T.PersistedType: _QueryBinary {
  /// The value contains another. Nothing contains an empty one.
  public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> {
    test(.contains, PropertyValue(value), options.tested)
  }

  /// The value contains that of another property of the object.
  public func contains<U: _Persistable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U.PersistedType: _QueryBinary { test(.contains, other, options.tested) }

  /// The value starts with another. Nothing starts with an empty one.
  public func starts(with value: T, options: StringOptions = []) -> Query<Bool> {
    test(.beginsWith, PropertyValue(value), options.tested)
  }

  /// The value starts with that of another property of the object.
  public func starts<U: _Persistable>(with other: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U.PersistedType: _QueryBinary { test(.beginsWith, other, options.tested) }

  /// The value ends with another. Nothing ends with an empty one.
  public func ends(with value: T, options: StringOptions = []) -> Query<Bool> {
    test(.endsWith, PropertyValue(value), options.tested)
  }

  /// The value ends with that of another property of the object.
  public func ends<U: _Persistable>(with other: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U.PersistedType: _QueryBinary { test(.endsWith, other, options.tested) }

  /// The value equals another. Null equals null only.
  public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> {
    test(.compare(.equal), PropertyValue(value), options.tested)
  }

  /// The value equals that of another property of the object.
  public func equals<U: _Persistable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U.PersistedType: _QueryBinary { test(.compare(.equal), other, options.tested) }

  /// The value does not equal another. Null differs from all but null.
  public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
    test(.compare(.notEqual), PropertyValue(value), options.tested)
  }

  /// The value does not equal that of another property of the object.
  public func notEquals<U: _Persistable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U.PersistedType: _QueryBinary { test(.compare(.notEqual), other, options.tested) }
}

extension Query where T: _Persistable, T.PersistedType: _QueryString {
  /// The value fits a pattern: `*` stands for any characters, `?` for one.
  public func like(_ pattern: T, caseInsensitive: Bool = false) -> Query<Bool> {
    test(.like, PropertyValue(pattern), caseInsensitive ? .ignoringCase : [])
  }

  /// The value fits the pattern that another property of the object holds.
  public func like<U: _Persistable>(_ other: Query<U>, caseInsensitive: Bool = false) -> Query<Bool>
  where U.PersistedType: _QueryString { test(.like, other, caseInsensitive ? .ignoringCase : []) }
}
