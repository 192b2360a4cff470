import Foundation

/// The content of a JSON text. `JSONDecoder` reads it, because `JSONSerialization` does not read each double as the
/// nearest one.
enum JSONValue: Decodable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(_ text: String) throws { self = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) }

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let number = try? value.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let flag = try? value.decode(Bool.self) {
      self = .bool(flag)
    } else if let elements = try? value.decode([JSONValue].self) {
      self = .array(elements)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  subscript(_ member: String) -> JSONValue? {
    if case .object(let members) = self { members[member] } else { nil }
  }

  var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  var string: String? { if case .string(let text) = self { text } else { nil } }
  var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
  /// The number as a double, even if it has no fraction.
  var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }
}
