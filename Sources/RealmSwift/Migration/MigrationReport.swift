/// What a migration would do to a file, as `Realm.dryRunMigration(for:)` finds it.
public struct MigrationReport: Sendable, Hashable {
  /// A class, and how many objects the file has of it.
  public struct ClassCount: Sendable, Hashable {
    /// The name it is stored under.
    public let className: String
    /// Before the migration; nil where the file has no such class.
    public let before: Int?
    /// After it; nil where the class is gone then.
    public let after: Int?
  }

  /// The schema version of the file.
  public let oldSchemaVersion: UInt64
  /// The one that it would have.
  public let newSchemaVersion: UInt64
  /// What would change of classes and properties, in words, a line each.
  public let changes: [String]
  /// The classes of the file, and those that would be added.
  public let classes: [ClassCount]

  /// Nothing would change.
  public var isEmpty: Bool { changes.isEmpty && oldSchemaVersion == newSchemaVersion }
}

extension MigrationReport: CustomStringConvertible {
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
