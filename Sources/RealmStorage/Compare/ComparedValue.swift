/// A value in the form in which two databases are compared: a link stands for the object to which it leads, an embedded object
/// for its values.
///
/// Two values are equal if they are stored in the same way, as with `Value`.
public indirect enum ComparedValue: Sendable {
  /// A value that is not a link, an embedded object, a list, a set or a map.
  case value(Value)
  /// A link to an object: the name of its table, and its primary key.
  case object(table: String, key: Value)
  /// A link to an object of a table without a primary key: the name of its table, and the key of its row.
  case row(table: String, key: UInt64)
  /// An embedded object: its values by the names of those columns that both databases have.
  case embedded([Entry])
  /// The elements of a list, in order.
  case list([ComparedValue])
  /// The elements of a set. They are equal to others in any order.
  case set([ComparedValue])
  /// The values of a map by their keys.
  case map([Entry])

  /// A value with a name.
  public struct Entry: Sendable {
    /// The name of the column of an embedded object, or the key of a map.
    public var name: String
    /// The value.
    public var value: ComparedValue
    /// The column of an embedded object; nil in a map. It is ignored when entries are compared.
    public var column: Column?

    init(_ name: String, _ value: ComparedValue, of column: Column? = nil) {
      self.name = name
      self.value = value
      self.column = column
    }
  }
}

extension ComparedValue: Hashable {
  public static func == (left: ComparedValue, right: ComparedValue) -> Bool {
    switch (left, right) {
    case (.value(let left), .value(let right)): left == right
    case (.object(let left, let leftKey), .object(let right, let rightKey)):
      leftKey == rightKey && left.utf8.elementsEqual(right.utf8)
    case (.row(let left, let leftKey), .row(let right, let rightKey)):
      leftKey == rightKey && left.utf8.elementsEqual(right.utf8)
    case (.embedded(let left), .embedded(let right)), (.map(let left), .map(let right)): left == right
    case (.list(let left), .list(let right)): left == right
    case (.set(let left), .set(let right)):
      left.count == right.count && (left == right || Set(left) == Set(right))
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .value(let value): hasher.combine(value)
    case .object(let table, let key):
      hasher.combine(Value.string(table))
      hasher.combine(key)
    case .row(let table, let key):
      hasher.combine(Value.string(table))
      hasher.combine(key)
    case .embedded(let entries), .map(let entries): hasher.combine(entries)
    case .list(let elements): hasher.combine(elements)
    case .set(let elements): hasher.combine(Set(elements))
    }
  }
}

extension ComparedValue.Entry: Hashable {
  // Names are compared by their bytes. Equivalent texts with other bytes are different names.
  public static func == (left: Self, right: Self) -> Bool {
    left.value == right.value && left.name.utf8.elementsEqual(right.name.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(Value.string(name))
    hasher.combine(value)
  }
}
