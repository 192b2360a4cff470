import RealmStorage

/// An object that a migration block reads or changes.
public typealias MigrationObject = DynamicObject

/// A closure that migrates the objects of a file. It is called with the `Migration`, and the schema version that the file
/// had. If it throws, the file stays unchanged.
public typealias MigrationBlock =
  @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) throws -> Void

/// A closure that is called with an object as it was before the migration, and as it will be after it.
public typealias MigrationObjectEnumerateBlock = (
  _ oldObject: MigrationObject?, _ newObject: MigrationObject?
) throws -> Void

/// Changes the objects that were stored by earlier versions of the classes. A `migrationBlock` gets one, and may use it only
/// until it returns; a later use stops the program.
///
///     configuration.migrationBlock = { migration, oldVersion in
///       if oldVersion < 2 {
///         migration.enumerateObjects(ofType: "Person") { old, new in
///           new?["fullName"] = "\(old?["first"] ?? "") \(old?["last"] ?? "")"
///         }
///       }
///     }
///
/// Objects are dynamic, and their properties have the stored names. An old object shows the file as it was. A new object has
/// the properties of the program's class, and its primary key can be set.
public final class Migration {
  /// The classes of the file before the migration.
  public let oldSchema: Schema
  /// The classes of the program.
  public let newSchema: Schema
  private let migrator: Migrator

  init(_ migrator: Migrator, old: Schema, new: Schema) {
    self.migrator = migrator
    (oldSchema, newSchema) = (old, new)
  }

  /// Calls a closure with each object of a class that the file has, in the order in which the objects were made.
  ///
  /// The new object is nil if the program does not have the class any more. Objects that the migration block has deleted are
  /// left out. If only the program has the class, the closure is called with each object that the block has made, and the old
  /// object is nil. If neither has the class, the closure is not called.
  ///
  /// - Parameters:
  ///   - typeName: the name of the class in the schema.
  ///   - block: the closure, with the old object and the new one.
  /// - Throws: what `block` throws.
  public func enumerateObjects(ofType typeName: String, _ block: MigrationObjectEnumerateBlock) rethrows {
    try migrator.checkOpen().forEachObject(of: typeName, block)
  }

  /// Makes an object of a class of the program.
  ///
  /// - Parameters:
  ///   - typeName: the name of the class in the schema. A class that the program does not have, and an embedded class, stop
  ///     the program.
  ///   - value: a dictionary by stored names, or an array in the order of the stored properties. A property that is not given
  ///     is zero, empty or nil.
  @discardableResult
  public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
    migrator.checkOpen().create(typeName, value)
  }

  /// Deletes a new object. Links to it become nil, and lists lose it.
  ///
  /// - Parameter object: a new object of this migration. Another object stops the program.
  public func delete(_ object: MigrationObject) { migrator.checkOpen().delete(object) }

  /// Deletes all objects of a class. The class itself is deleted too if the program does not have it and no remaining class
  /// links to it.
  ///
  /// - Parameter typeName: the name of the class in the schema.
  /// - Returns: whether the file or the program has the class. The answer is false if a class that the program does not have
  ///   was deleted before in this migration.
  @discardableResult
  public func deleteData(forType typeName: String) -> Bool { migrator.checkOpen().deleteData(of: typeName) }

  /// Renames a property and keeps its values. If the types differ, values that convert without loss are kept. Call it before
  /// the objects of the class are enumerated.
  ///
  /// The migration fails at the end of the block, and opening throws `Realm.Error.schemaMismatch`, if the file does not have
  /// the class or the property `oldName`, if it has `newName` already, if the program's class still declares `oldName`, or if
  /// it does not declare `newName`.
  ///
  /// - Parameters:
  ///   - typeName: the name of the class in the schema.
  ///   - oldName: the stored name in the file.
  ///   - newName: the stored name in the program's class.
  public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
    migrator.checkOpen().rename(oldName, to: newName, in: typeName)
  }
}

@available(*, unavailable)
extension Migration: Sendable {}
