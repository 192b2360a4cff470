import Foundation
import RealmStorage

/// Gives the version that a session reads to others.
extension RealmSession {
  /// The frozen session of the version that is read; in a transaction, of the version that the transaction began with.
  ///
  /// - Parameter namesOnly: whether the version is left out, so that the session only names objects.
  func frozen(namesOnly: Bool = false) -> SessionLife {
    check()
    if isFrozen, !namesOnly { return life }
    let schema = lastingSchema
    checkCounted("be frozen or referred to")
    if namesOnly { return file.frozenSession(nil, schema, view.configuration) }
    let version = reading { () throws(StorageError) in
      if let transaction { return try transaction.baseSnapshot().held(for: "frozen") }
      return try currentSnapshot().held(for: "frozen")
    }
    return file.frozenSession(version, schema, view.configuration)
  }

  /// The classes, without those whose tables are only in the open transaction, which may be cancelled.
  private var lastingSchema: RealmSchema {
    if provisional.isEmpty { return schema }
    return RealmSchema(
      schema.bindings.filter { $0.table == nil || file.classes.isKnown($0) }, isDefault: schema.isDefault)
  }

  /// The number of the version that is read; in a transaction, that of the first version that may show what the transaction did.
  func versionNumber() -> UInt64 {
    reading { () throws(StorageError) in
      if let transaction { return transaction.base.number + 1 }
      return try currentSnapshot().version
    }
  }

  /// Writes what is read, with the changes of an open transaction, to a new file.
  func copy(to path: String, key: Data?) throws {
    check()
    let key = key.map { Array($0) }
    do {
      if let transaction {
        try transaction.copy(to: path, encryptionKey: key)
      } else {
        try currentSnapshot().copy(to: path, encryptionKey: key)
      }
    } catch {
      Logger.shared.log(.error, "\(file.database.path) was not copied to \(path): \(error)")
      throw Realm.Error(error)
    }
    Logger.shared.log(.info, "\(file.database.path) was copied to \(path).")
  }
}
