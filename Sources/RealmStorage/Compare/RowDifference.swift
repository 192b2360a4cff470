/// How two databases differ in an object.
public struct RowDifference: Sendable, Equatable {
  /// What tells an object from others of its table.
  public enum Identity: Sendable, Equatable {
    case primaryKey(Value)
    /// Of a table without a primary key: the key of the row, in the database that has the object.
    case row(UInt64)
  }

  public enum Kind: String, Sendable {
    case added, removed, changed
  }

  /// A value of the object.
  public struct Cell: Sendable, Equatable {
    /// As the newer database has it, or the older one where the object was removed.
    public var column: Column
    /// Nil of an object that was added.
    public var old: ComparedValue?
    /// Nil of an object that was removed.
    public var new: ComparedValue?
  }

  public var table: String
  public var kind: Kind
  public var identity: Identity
  /// Of an object that was changed the values that differ; of any other all that are compared.
  public var cells: [Cell]
}

/// How two databases differ in an entry of a named tree.
public struct TreeDifference: Sendable, Equatable {
  public var tree: String
  public var key: [UInt8]
  /// Nil where only the newer database has the key.
  public var old: [UInt8]?
  /// Nil where only the older database has the key.
  public var new: [UInt8]?
}
