import RealmStorage

/// A value that a program passes beside the text of a query.
public indirect enum QueryArgument: Sendable, Equatable {
  /// A value of the database. A string is taken for a key path where the text has `%K`.
  case value(Value)
  /// Several values.
  case list([QueryArgument])
  /// The text of a key path, its names joined by dots.
  case keyPath(String)
  /// Something that the query language does not know, such as an object or a shape, by a number that the caller knows it by.
  case object(token: Int)
}
