/// An object that differs between two databases.
public struct RowDifference: Sendable, Equatable {
  /// What identifies an object in its table.
  public enum Identity: Sendable, Equatable {
    /// The primary key of the object.
    case primaryKey(Value)
    /// The key of the object's row in the database that has it, for a table without a primary key.
    case row(UInt64)
  }

  /// How an object differs.
  public enum Kind: String, Sendable {
    /// Only the newer database has the object (`added`), only the older one (`removed`), or both have it with different values
    /// (`changed`).
    case added, removed, changed
  }

  /// A value of the object that differs or is told.
  public struct Cell: Sendable, Equatable {
    /// The column, as the newer database has it; as the older one has it if the object was removed.
    public var column: Column
    /// The value in the older database; nil if the object was added.
    public var old: ComparedValue?
    /// The value in the newer database; nil if the object was removed.
    public var new: ComparedValue?
  }

  /// The name of the table.
  public var table: String
  /// How the object differs.
  public var kind: Kind
  /// What identifies the object in its table.
  public var identity: Identity
  /// The values that differ, for a changed object; all compared values, for an added or removed one. Empty if values are not
  /// told.
  public var cells: [Cell]
}

/// An entry of a named tree that differs between two databases.
public struct TreeDifference: Sendable, Equatable {
  /// The name of the tree.
  public var tree: String
  /// The key of the entry.
  public var key: [UInt8]
  /// The value in the older database; nil if only the newer one has the key.
  public var old: [UInt8]?
  /// The value in the newer database; nil if only the older one has the key.
  public var new: [UInt8]?
}
