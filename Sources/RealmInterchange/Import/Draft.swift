package import RealmStorage

/// An object that is to be made, with its links not looked up yet.
package struct ObjectDraft: Sendable {
  package struct Cell: Sendable {
    /// The position in the schema.
    package var column: Int
    package var value: ValueDraft
    /// The place of the value in the input.
    package var place: InputPlace
  }

  package var table: UInt32
  package var cells: [Cell]
  /// The key that the row had where it comes from, for links that name it.
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
  /// Nothing in it is a link.
  case value(Value)
  case link(LinkDraft)
  case embedded(ObjectDraft)
  /// A list or set of a column, or a list in a mixed value.
  case list([ValueDraft])
  case map([(key: String, value: ValueDraft)])

  /// It is a list or a map.
  package var isNested: Bool {
    switch self {
    case .list, .map, .value(.list), .value(.map): true
    case .value, .link, .embedded: false
    }
  }
}

/// A link to an object that may come later.
package struct LinkDraft: Sendable {
  package enum Target: Sendable {
    case primaryKey(Value)
    /// The key that the row had where the input comes from.
    case oldKey(UInt64)
  }

  package var table: UInt32
  package var target: Target
  /// It stands in a mixed value, and tells its table.
  package var isTyped: Bool
  /// For messages.
  package var shown: String
}
