import RealmStorage

/// An object of a migration.
public typealias MigrationObject = DynamicObject

/// Called with what changes objects, and the schema version that the file had. What it throws takes the migration back.
public typealias MigrationBlock =
  @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) throws -> Void

/// Called with an object as it was, and as it is to be.
public typealias MigrationObjectEnumerateBlock = (
  _ oldObject: MigrationObject?, _ newObject: MigrationObject?
) throws -> Void

/// Changes objects that were stored by classes of an earlier version, inside of a `migrationBlock`.
///
///     configuration.migrationBlock = { migration, oldVersion in
///       if oldVersion < 2 {
///         migration.enumerateObjects(ofType: "Person") { old, new in
///           new?["fullName"] = "\(old?["first"] ?? "") \(old?["last"] ?? "")"
///         }
///       }
///     }
///
/// Objects are dynamic, and their properties have the names that are stored. Old objects are as the file has them; new ones are of the classes of the
/// program, and their primary keys may be set. It is of no use when the block has returned.
public final class Migration {
  /// The classes of the file as it was.
  public let oldSchema: Schema
  /// The classes of the program.
  public let newSchema: Schema
  private let migrator: Migrator

  init(_ migrator: Migrator, old: Schema, new: Schema) {
    self.migrator = migrator
    (oldSchema, newSchema) = (old, new)
  }

  /// Calls `block` with each object that the file has of a class, in the order in which they were made.
  ///
  /// The new object is nil where the program has no such class any more. An object that was deleted in the block before is left out. Where the file has no such class, it is called
  /// with each object that the block has made of it, and nil for the old one; where nobody knows the class, with none.
  ///
  /// - Throws: what `block` throws.
  public func enumerateObjects(ofType typeName: String, _ block: MigrationObjectEnumerateBlock) rethrows {
    try migrator.checkOpen().forEachObject(of: typeName, block)
  }

  /// Makes an object, of a dictionary by stored names, or an array in the order of the stored properties. What is not given is zero, empty or nil.
  ///
  /// - Precondition: the program has the class, which is not embedded: otherwise the program stops.
  @discardableResult
  public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
    migrator.checkOpen().create(typeName, value)
  }

  /// Deletes a new object. Links to it become nil, and leave the lists they stand in.
  ///
  /// - Precondition: it is a new object of this migration: otherwise the program stops.
  public func delete(_ object: MigrationObject) { migrator.checkOpen().delete(object) }

  /// Deletes all objects of a class, and the class itself where the program does not have it, and no class that stays links to it.
  ///
  /// - Returns: whether the file had the class, or the program has it.
  @discardableResult
  public func deleteData(forType typeName: String) -> Bool { migrator.checkOpen().deleteData(of: typeName) }

  /// Gives a property another name, with all its values. A property of another type keeps those that convert without loss. It is to be called before objects
  /// of the class are gone through.
  ///
  /// A name that the file does not have, or has already, or that the class does not declare, takes the migration back at the end of the block:
  /// opening throws `Realm.Error.schemaMismatch`.
  public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
    migrator.checkOpen().rename(oldName, to: newName, in: typeName)
  }
}

@available(*, unavailable)
extension Migration: Sendable {}
