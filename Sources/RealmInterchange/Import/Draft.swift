package import RealmStorage

/// An object that is to be made. Its links are not looked up yet.
package struct ObjectDraft: Sendable {
  package struct Cell: Sendable {
    /// The position of the column in the schema.
    package var column: Int
    package var value: ValueDraft
    /// The place of the value in the input.
    package var place: InputPlace
  }

  package var table: UInt32
  package var cells: [Cell]
  /// The key that the row had in the file from which the input comes. Links may name the row by it. Nil if the input
  /// does not give it.
  package var oldKey: UInt64?
  package var place: InputPlace

  package init(table: UInt32, cells: [Cell], oldKey: UInt64? = nil, place: InputPlace) {
    (self.table, self.cells, self.oldKey, self.place) = (table, cells, oldKey, place)
  }
}

package struct InputPlace: Sendable {
  package var line: Int
  package var column: Int

  package init(line: Int, column: Int) { (self.line, self.column) = (line, column) }
}

package indirect enum ValueDraft: Sendable {
  /// A value without links and embedded objects.
  case value(Value)
  case link(LinkDraft)
  case embedded(ObjectDraft)
  /// A list or set of a column, or a list in a value of any type.
  case list([ValueDraft])
  case map([(key: String, value: ValueDraft)])

  /// Whether the value is a list or a map.
  package var isNested: Bool {
    switch self {
    case .list, .map, .value(.list), .value(.map): true
    case .value, .link, .embedded: false
    }
  }
}

/// A link to an object, which may come later in the input.
package struct LinkDraft: Sendable {
  package enum Target: Sendable {
    case primaryKey(Value)
    /// The key that the row had in the file from which the input comes.
    case oldKey(UInt64)
  }

  package var table: UInt32
  package var target: Target
  /// Whether the link is in a value of any type, and so has its table with it.
  package var isTyped: Bool
  /// The link as a text for messages.
  package var shown: String
}
