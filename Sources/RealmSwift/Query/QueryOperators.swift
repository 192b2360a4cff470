import RealmQuery
import RealmStorage

// MARK: - Logic

/// Holds if the condition does not hold. If the condition asks for an element of a collection, no element may meet it.
public prefix func ! (query: Query<Bool>) -> Query<Bool> { query.negated }

/// Holds if both conditions hold. For a collection, different elements may meet the two conditions. Any number of conditions may
/// be joined.
public func && (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
  let parts = [left.node(in: left.draft), right.node(in: left.draft)]
  return left.condition(.and(left.draft.distinct(parts)))
}

/// Holds if at least one of the conditions holds.
public func || (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
  let parts = [left.node(in: left.draft), right.node(in: left.draft)]
  return left.condition(.or(left.draft.distinct(parts)))
}

// MARK: - Comparison

/// Holds if the value equals another. Numbers are compared by their value, texts and data by their bytes.
///
/// Null equals only null, and NaN equals nothing. For a collection, one element must be equal. A condition may be compared with
/// true and false.
public func == <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> {
  left.compared(.equal, right)
}
/// Holds if the value does not equal another.
///
/// Null differs from everything but null, and NaN from everything. For a collection, one element must differ. To ask that all
/// elements differ, write `!` before a comparison with `==`.
public func != <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> {
  left.compared(.notEqual, right)
}

/// Holds if the value equals that of another property of the object.
public func == <T>(left: Query<T>, right: Query<T>) -> Query<Bool> { left.test(.compare(.equal), right) }
/// Holds if the value does not equal that of another property of the object.
public func != <T>(left: Query<T>, right: Query<T>) -> Query<Bool> { left.test(.compare(.notEqual), right) }

/// Holds if one element equals a value, or nil.
public func == <T: RealmCollection>(left: Query<T>, right: T.Element) -> Query<Bool> {
  left.anyElement(.equal, right)
}
/// Holds if one element differs from a value. To ask that all elements differ, write `!` before `contains`.
public func != <T: RealmCollection>(left: Query<T>, right: T.Element) -> Query<Bool> {
  left.anyElement(.notEqual, right)
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric {
  /// Holds if the value is less than another. Numbers are compared by their value, dates by their moment.
  ///
  /// Null and NaN are neither less nor greater than anything.
  public static func < (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.less, right)
  }
  /// Holds if the value is less than another or equals it.
  ///
  /// For null it holds only if both are null, for NaN never.
  public static func <= (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.lessOrEqual, right)
  }
  /// Holds if the value is greater than another. Numbers are compared by their value, dates by their moment.
  ///
  /// Null and NaN are neither less nor greater than anything.
  public static func > (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.greater, right)
  }
  /// Holds if the value is greater than another or equals it.
  ///
  /// For null it holds only if both are null, for NaN never.
  public static func >= (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.greaterOrEqual, right)
  }

  /// Holds if the value is less than that of another property of the object.
  public static func < (left: Query, right: Query) -> Query<Bool> { left.test(.compare(.less), right) }
  /// Holds if the value is less than that of another property of the object or equals it.
  public static func <= (left: Query, right: Query) -> Query<Bool> {
    left.test(.compare(.lessOrEqual), right)
  }
  /// Holds if the value is greater than that of another property of the object.
  public static func > (left: Query, right: Query) -> Query<Bool> { left.test(.compare(.greater), right) }
  /// Holds if the value is greater than that of another property of the object or equals it.
  public static func >= (left: Query, right: Query) -> Query<Bool> {
    left.test(.compare(.greaterOrEqual), right)
  }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryBinary {
  /// Holds if the value is less than another. Texts are compared by their UTF-8 bytes, data by its bytes.
  ///
  /// A string property of the object itself that is null is less than every string. Any other null, such as one behind a link, in
  /// a collection or in a property of data, is neither less nor greater than anything.
  public static func < (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.less, right)
  }
  /// Holds if the value is less than another, in the order of `<`, or equals it.
  ///
  /// Null equals only null. A string property of the object itself that is null is less than every string.
  public static func <= (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.lessOrEqual, right)
  }
  /// Holds if the value is greater than another. Texts are compared by their UTF-8 bytes, data by its bytes.
  ///
  /// Null is not greater than anything. A string property of the object itself that is not null is greater than null.
  public static func > (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.greater, right)
  }
  /// Holds if the value is greater than another, in the order of `>`, or equals it.
  ///
  /// Null equals only null. A string property of the object itself that is not null is greater than null.
  public static func >= (left: Query, right: T) -> Query<Bool> where T: _Persistable {
    left.compared(.greaterOrEqual, right)
  }

  /// Holds if the value is less than that of another property of the object, by their bytes.
  public static func < (left: Query, right: Query) -> Query<Bool> { left.test(.compare(.less), right) }
  /// Holds if the value is less than that of another property of the object or equals it, by their bytes.
  public static func <= (left: Query, right: Query) -> Query<Bool> {
    left.test(.compare(.lessOrEqual), right)
  }
  /// Holds if the value is greater than that of another property of the object, by their bytes.
  public static func > (left: Query, right: Query) -> Query<Bool> { left.test(.compare(.greater), right) }
  /// Holds if the value is greater than that of another property of the object or equals it, by their bytes.
  public static func >= (left: Query, right: Query) -> Query<Bool> {
    left.test(.compare(.greaterOrEqual), right)
  }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryNumeric {
  /// Holds if one element is less than a value.
  public static func < (left: Query, right: T.Element) -> Query<Bool> { left.anyElement(.less, right) }
  /// Holds if one element is less than a value or equals it.
  public static func <= (left: Query, right: T.Element) -> Query<Bool> {
    left.anyElement(.lessOrEqual, right)
  }
  /// Holds if one element is greater than a value.
  public static func > (left: Query, right: T.Element) -> Query<Bool> { left.anyElement(.greater, right) }
  /// Holds if one element is greater than a value or equals it.
  public static func >= (left: Query, right: T.Element) -> Query<Bool> {
    left.anyElement(.greaterOrEqual, right)
  }
}

extension Query {
  /// Holds if the value equals one of the given values.
  public func `in`<U: Sequence>(_ values: U) -> Query<Bool> where U.Element == T {
    test(.isIn, QueryValues(values.map { AnyQueryValue($0) }))
  }
}

extension Query where T: _Persistable {
  /// Holds if the value equals one of the given values.
  public func `in`<U: Sequence>(_ values: U) -> Query<Bool> where U.Element == T {
    test(.isIn, QueryValues(values.map { PropertyValue($0) }))
  }
}

// MARK: - Texts

/// How texts are compared.
public struct StringOptions: OptionSet, Sendable {
  /// The options as bits.
  public let rawValue: Int8
  /// Makes options of bits.
  public init(rawValue: Int8) { self.rawValue = rawValue }

  /// Capital and small letters are equal, by simple case folding of Unicode 14.0. In data this holds for A to Z, and in UTF-8 for
  /// À to Þ except ×.
  public static let caseInsensitive = StringOptions(rawValue: 1)
  /// Letters with and without accents and other nonspacing marks are equal, by Unicode 14.0. Data is compared by its bytes.
  public static let diacriticInsensitive = StringOptions(rawValue: 2)

  /// The options in the form that the text of a query has.
  fileprivate var tested: QuerySyntax.TestOptions {
    var options: QuerySyntax.TestOptions = []
    if contains(.caseInsensitive) { options.insert(.ignoringCase) }
    if contains(.diacriticInsensitive) { options.insert(.ignoringDiacritics) }
    return options
  }
}

extension Query where T: _Persistable, T.PersistedType: _QueryBinary {
  /// Holds if the value contains another. Nothing contains an empty value.
  public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> {
    test(.contains, PropertyValue(value), options.tested)
  }

  /// Holds if the value contains that of another property of the object. Nothing contains an empty value.
  public func contains<U: _Persistable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U.PersistedType: _QueryBinary { test(.contains, other, options.tested) }

  /// Holds if the value starts with another. Nothing starts with an empty value.
  public func starts(with value: T, options: StringOptions = []) -> Query<Bool> {
    test(.beginsWith, PropertyValue(value), options.tested)
  }

  /// Holds if the value starts with that of another property of the object. Nothing starts with an empty value.
  public func starts<U: _Persistable>(with other: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U.PersistedType: _QueryBinary { test(.beginsWith, other, options.tested) }

  /// Holds if the value ends with another. Nothing ends with an empty value.
  public func ends(with value: T, options: StringOptions = []) -> Query<Bool> {
    test(.endsWith, PropertyValue(value), options.tested)
  }

  /// Holds if the value ends with that of another property of the object. Nothing ends with an empty value.
  public func ends<U: _Persistable>(with other: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U.PersistedType: _QueryBinary { test(.endsWith, other, options.tested) }

  /// Holds if the value equals another. Null equals only null.
  public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> {
    test(.compare(.equal), PropertyValue(value), options.tested)
  }

  /// Holds if the value equals that of another property of the object.
  public func equals<U: _Persistable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U.PersistedType: _QueryBinary { test(.compare(.equal), other, options.tested) }

  /// Holds if the value does not equal another. Null differs from everything but null.
  public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
    test(.compare(.notEqual), PropertyValue(value), options.tested)
  }

  /// Holds if the value does not equal that of another property of the object.
  public func notEquals<U: _Persistable>(_ other: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U.PersistedType: _QueryBinary { test(.compare(.notEqual), other, options.tested) }
}

extension Query where T: _Persistable, T.PersistedType: _QueryString {
  /// Holds if the value matches a pattern, in which `*` stands for any number of characters and `?` for one.
  public func like(_ pattern: T, caseInsensitive: Bool = false) -> Query<Bool> {
    test(.like, PropertyValue(pattern), caseInsensitive ? .ignoringCase : [])
  }

  /// Holds if the value matches the pattern that is in another property of the object.
  public func like<U: _Persistable>(_ other: Query<U>, caseInsensitive: Bool = false) -> Query<Bool>
  where U.PersistedType: _QueryString { test(.like, other, caseInsensitive ? .ignoringCase : []) }
}
