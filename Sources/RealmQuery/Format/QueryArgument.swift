import RealmStorage

/// An argument that a program passes beside the text of a query.
public indirect enum QueryArgument: Sendable, Equatable {
  /// A value of the database. A string is used as a key path if the text has `%K` for it.
  case value(Value)
  /// Several values.
  case list([QueryArgument])
  /// A key path as a text: names joined by dots.
  case keyPath(String)
  /// A thing that the query language does not know, such as an object or a shape. The caller recognizes it by its
  /// number.
  case object(token: Int)
}
