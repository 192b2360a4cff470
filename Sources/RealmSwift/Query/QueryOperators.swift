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
  left.compared(.equal, right)
}
public func != <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> {
  left.compared(.notEqual, right)
}

public func < <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.less, right)
}
public func <= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.lessOrEqual, right)
}
public func > <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.greater, right)
}
public func >= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryNumeric {
  left.compared(.greaterOrEqual, right)
}

/// Texts are ordered by their UTF-8 bytes.
public func < <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> where T.PersistedType: _QueryBinary {
  left.compared(.less, right)
}
public func <= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryBinary {
  left.compared(.lessOrEqual, right)
}
public func > <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool> where T.PersistedType: _QueryBinary {
  left.compared(.greater, right)
}
public func >= <T: _Persistable>(left: Query<T>, right: T) -> Query<Bool>
where T.PersistedType: _QueryBinary {
  left.compared(.greaterOrEqual, right)
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

extension Query where T: _Persistable & Comparable, T.PersistedType: _QueryNumeric {
  /// The value lies in a range.
  public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
    if isCount { return self >= range.lowerBound && self <= range.upperBound }
    return Query<Bool>(
      .condition(.between(node.names, range.lowerBound._stored(noRow), range.upperBound._stored(noRow))))
  }

  /// The value lies in a range, below its end.
  public func contains(_ range: Range<T>) -> Query<Bool> {
    self >= range.lowerBound && self < range.upperBound
  }
}

/// Of values that link to nothing.
private func noRow(_: ObjectBase) -> UInt64? { nil }

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
          node.names, match, value._stored(noRow), ignoringCase: options.contains(.caseInsensitive))))
  }
}
