/// The changes that a migration would make to a file; `Realm.dryRunMigration(for:)` makes it.
public struct MigrationReport: Sendable, Hashable {
  /// A class, with the number of its objects before and after the migration.
  public struct ClassCount: Sendable, Hashable {
    /// The name of the class in the schema.
    public let className: String
    /// The number of objects before the migration; nil if the file has no such class.
    public let before: Int?
    /// The number of objects after the migration; nil if the migration deletes the class.
    public let after: Int?
  }

  /// The schema version that the file has.
  public let oldSchemaVersion: UInt64
  /// The schema version that the file would have.
  public let newSchemaVersion: UInt64
  /// The changes of classes and properties, each in words on one line.
  public let changes: [String]
  /// The classes of the file, and those that would be added.
  public let classes: [ClassCount]

  /// Whether nothing would change.
  public var isEmpty: Bool { changes.isEmpty && oldSchemaVersion == newSchemaVersion }
}

extension MigrationReport: CustomStringConvertible {
  /// A text for people that shows the versions, the changes, and the number of objects of each class.
  public var description: String {
    let lines =
      ["schema version \(oldSchemaVersion) to \(newSchemaVersion)"] + changes
      + classes.map { count in
        let texts = [count.before, count.after].map { $0.map { "\($0)" } ?? "none" }
        return "\(count.className): \(texts[0]) objects to \(texts[1])"
      }
    return lines.joined(separator: "\n")
  }
}
