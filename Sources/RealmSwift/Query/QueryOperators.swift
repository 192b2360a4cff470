import RealmStorage

// MARK: - Logic

public prefix func ! (query: Query<Bool>) -> Query<Bool> { Query(.condition(.not(query.node.condition))) }

public func && (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
  Query(.condition(.and(left.node.condition, right.node.condition)))
}

public func || (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
  Query(.condition(.or(left.node.condition, right.node.condition)))
}

// MARK: - Comparison

/// Null equals null only.
public func == <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> {
  left.compared(.equal, right._stored(rowForQuery))
}
public func != <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> {
  left.compared(.notEqual, right._stored(rowForQuery))
}

public func < <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.less, right._stored(rowForQuery))
}
public func <= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.lessOrEqual, right._stored(rowForQuery))
}
public func > <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.greater, right._stored(rowForQuery))
}
public func >= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.greaterOrEqual, right._stored(rowForQuery))
}

/// Texts are ordered by their UTF-8 bytes.
public func < <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> where T.PersistedType: _QueryBinary {
  left.compared(.less, right._stored(rowForQuery))
}
public func <= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryBinary {
  left.compared(.lessOrEqual, right._stored(rowForQuery))
}
public func > <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> where T.PersistedType: _QueryBinary {
  left.compared(.greater, right._stored(rowForQuery))
}
public func >= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryBinary {
  left.compared(.greaterOrEqual, right._stored(rowForQuery))
}

extension Query where T: _Persistable {
  /// The value equals one of these.
  public func `in`<U: Sequence>(_ values: U) -> Query<Bool> where U.Element == T {
    Query<Bool>(.condition(.isIn(node.names, values.map { $0._stored(rowForQuery) })))
  }
}

extension Query where T: _Persistable & Comparable, T.PersistedType: _QueryNumeric {
  /// The value lies in a range.
  public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
    Query<Bool>(
      .condition(
        .between(
          node.names, range.lowerBound._stored(rowForQuery), range.upperBound._stored(rowForQuery))))
  }

  /// The value lies in a range, below its end.
  public func contains(_ range: Range<T>) -> Query<Bool> {
    self >= range.lowerBound && self < range.upperBound
  }
}

// MARK: - Texts

/// How texts are compared.
public struct StringOptions: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// A to Z, and À to Þ but ×, equal their small letters.
  public static let caseInsensitive = StringOptions(rawValue: 1)
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

  public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> { text(.equal, value, options) }

  public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
    text(.notEqual, value, options)
  }

  private func text(_ match: TextMatch, _ value: T, _ options: StringOptions) -> Query<Bool> {
    Query<Bool>(
      .condition(
        .text(
          node.names, match, value._stored(rowForQuery), ignoringCase: options.contains(.caseInsensitive))))
  }
}
