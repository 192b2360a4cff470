/// What a JSON text says.
enum JSONValue: Equatable {
  case null
  case bool(Bool)
  /// As it is written: `1`, `1.0` and `1e0` are three texts, and digits of any number are kept.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])
}
