import RealmInterchange

/// A JSON text as BSON reads it. The order of members is lost, and if several members have the same key, the last one
/// is kept.
enum JSONValue: Equatable {
  case null
  case bool(Bool)
  /// A number as it is written: `1`, `1.0` and `1e0` are three texts, and the digits of any number are kept.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(_ node: JSONNode) {
    switch node.content {
    case .null: self = .null
    case .bool(let flag): self = .bool(flag)
    case .number(let text): self = .number(text)
    case .string(let text): self = .string(text)
    case .array(let elements): self = .array(elements.map { JSONValue($0) })
    case .object(let members):
      self = .object(
        Dictionary(members.map { ($0.name, JSONValue($0.value)) }, uniquingKeysWith: { _, last in last }))
    }
  }
}
