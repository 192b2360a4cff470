import RealmInterchange

/// A JSON text as BSON takes it: the order of members is lost, and of members with one key the last one is kept.
enum JSONValue: Equatable {
  case null
  case bool(Bool)
  /// As it is written: `1`, `1.0` and `1e0` are three texts, and digits of any number are kept.
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
