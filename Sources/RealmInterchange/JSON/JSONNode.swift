/// A value of a JSON text, with the place where it stands.
package struct JSONNode: Sendable {
  package indirect enum Content: Sendable {
    case null
    case bool(Bool)
    /// As it is written: `1`, `1.0` and `1e0` are three texts, and digits of any number are kept.
    case number(String)
    case string(String)
    case array([JSONNode])
    /// In the order in which they stand.
    case object([JSONMember])
  }

  package var content: Content
  /// Bytes before it in its text.
  package var offset: Int

  package var isNull: Bool { if case .null = content { true } else { false } }
  package var string: String? { if case .string(let text) = content { text } else { nil } }
  package var bool: Bool? { if case .bool(let flag) = content { flag } else { nil } }
  package var array: [JSONNode]? { if case .array(let elements) = content { elements } else { nil } }
  package var members: [JSONMember]? { if case .object(let members) = content { members } else { nil } }

  /// The member of an object; nil where there is none, or this is no object. Names differ when their bytes do.
  package subscript(name: String) -> JSONNode? {
    members?.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The value of the only member of an object, if that has this name.
  package func tagged(_ tag: String) -> JSONNode? {
    guard let members, members.count == 1, members[0].name == tag else { return nil }
    return members[0].value
  }

  /// For a message: the text as JSON, cut short.
  package var shown: String {
    let text = written
    return text.count <= 60 ? text : text.prefix(59) + "…"
  }

  /// The text as JSON; of an array or object only the first ten parts.
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

/// A text that is no JSON.
package struct JSONSyntaxError: Error {
  /// What should stand there: "a comma or a closing brace".
  package var missing: String
  /// Bytes before the place.
  package var offset: Int
  /// There is JSON, but more of it than a reader takes: too many levels or values, or two members of one name.
  package var isRefused = false
}
