/// A parsed JSON value.
enum JSONValue: Equatable {
  case null
  case bool(Bool)
  /// The text of the number: `1`, `1.0` and `1e0` are different texts, and no digit is lost.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])
}
