import Foundation
import RealmStorage

/// The version that a session reads, for other sessions and for copies.
extension RealmSession {
  /// The frozen session of the version that is read. In a transaction, it is that of the version with which the
  /// transaction began.
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

  /// The classes of the session, without those whose tables exist only in the open transaction, which may be cancelled.
  private var lastingSchema: RealmSchema {
    if provisional.isEmpty { return schema }
    return RealmSchema(
      schema.bindings.filter { $0.table == nil || file.classes.isKnown($0) }, isDefault: schema.isDefault)
  }

  /// The number of the version that is read. In a transaction, it is the number of the first version that may show what
  /// the transaction did.
  func versionNumber() -> UInt64 {
    reading { () throws(StorageError) in
      if let transaction { return transaction.base.number + 1 }
      return try currentSnapshot().version
    }
  }

  /// Writes the version that is read, or the open transaction with its changes, to a new file.
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
