/// A value of a JSON text, with its place in the text.
package struct JSONNode: Sendable {
  package indirect enum Content: Sendable {
    case null
    case bool(Bool)
    /// A number as it is written: `1`, `1.0` and `1e0` are three texts, and all digits are kept.
    case number(String)
    case string(String)
    case array([JSONNode])
    /// The members of an object, in the order of the text.
    case object([JSONMember])
  }

  package var content: Content
  /// The number of bytes before the value in its text.
  package var offset: Int

  package var isNull: Bool { if case .null = content { true } else { false } }
  package var string: String? { if case .string(let text) = content { text } else { nil } }
  package var bool: Bool? { if case .bool(let flag) = content { flag } else { nil } }
  package var array: [JSONNode]? { if case .array(let elements) = content { elements } else { nil } }
  package var members: [JSONMember]? { if case .object(let members) = content { members } else { nil } }

  /// The value of the member with a name; nil if the object has no such member, or this is not an object. Names differ
  /// if their bytes differ.
  package subscript(name: String) -> JSONNode? {
    members?.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The value of the only member of an object, if it has this name; otherwise nil.
  package func tagged(_ tag: String) -> JSONNode? {
    guard let members, members.count == 1, members[0].name == tag else { return nil }
    return members[0].value
  }

  /// The value as JSON for messages, cut to 60 characters.
  package var shown: String {
    let text = written
    return text.count <= 60 ? text : text.prefix(59) + "…"
  }

  /// The value as JSON, with only the first ten parts of each array or object.
  var written: String {
    switch content {
    case .null: "null"
    case .bool(let flag): JSON.bool(flag)
    case .number(let text): text
    case .string(let text): JSON.string(text)
    case .array(let elements): JSON.array(elements.prefix(10).map(\.written))
    case .object(let members): JSON.object(members.prefix(10).map { ($0.name, $0.value.written) })
    }
  }
}

package struct JSONMember: Sendable {
  package var name: String
  package var value: JSONNode
}

/// An error in a text that should be JSON.
package struct JSONSyntaxError: Error {
  /// The text that was expected at the place, such as "a comma or a closing brace".
  package var missing: String
  /// The number of bytes before the place.
  package var offset: Int
  /// Whether the text is JSON that the parser refuses: it has too many levels or values, or an object has two members
  /// with one name.
  package var isRefused = false
}
