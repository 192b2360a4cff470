import Foundation
import RealmStorage

/// The classes and the configuration with which one realm was opened.
///
/// All realms of a session share the version that they read and the transaction, but each realm has its own view. Only
/// the session's thread uses the view, unless the session is frozen.
final class RealmView {
  let configuration: Realm.Configuration
  @exclusivity(unchecked) private var schema: RealmSchema
  /// The number of times that the session had lost classes when `schema` was last checked.
  @exclusivity(unchecked) private var losses: Int
  /// The class that was last found among the classes of the view.
  @exclusivity(unchecked) private var known: ObjectIdentifier?

  init(_ configuration: Realm.Configuration, _ schema: RealmSchema, _ session: RealmSession) {
    self.configuration = configuration
    self.schema = schema
    losses = session.losses
  }

  /// The classes of the realm. If their tables were made in a transaction that was cancelled, the tables are made
  /// again.
  func classes(_ session: RealmSession) -> RealmSchema {
    if losses != session.losses {
      schema = session.restored(schema, configuration)
      losses = session.losses
      known = nil
    }
    return schema
  }

  /// Stops the program if the configuration does not name the class.
  @inline(__always)
  func check(_ type: ObjectBase.Type, _ session: RealmSession) {
    if known != ObjectIdentifier(type) || losses != session.losses { look(for: type, session) }
  }

  @inline(never)
  private func look(for type: ObjectBase.Type, _ session: RealmSession) {
    let classes = classes(session)
    if classes.find(type) == nil { classes.stopMissing(type, path: session.file.database.path) }
    // The view of a frozen realm never changes, because other threads may use it.
    if !session.isFrozen { known = ObjectIdentifier(type) }
  }
}

extension RealmSession {
  /// Opens a realm of the session with the classes of a configuration. Tables that are missing are made in the open
  /// transaction, or in a transaction of their own.
  ///
  /// - Throws: `Realm.Error`: `.alreadyOpen` if the file would have to be deleted, `.schemaMismatch` if classes differ
  ///   from their tables.
  func open(_ configuration: Realm.Configuration) throws -> RealmView {
    check()
    inbox.lookForLoop()
    let list = ClassList(configuration.objectTypes)
    let schema =
      try known(list) ?? bind(RealmSchema.models(configuration.objectTypes), list, configuration)
    adopt(schema, configuration)
    return RealmView(configuration, schema, self)
  }

  private func known(_ list: ClassList) -> RealmSchema? {
    file.classes.schema(list) ?? provisional.last { $0.list == list }?.schema
  }

  private func bind(
    _ models: [ObjectModel], _ list: ClassList, _ configuration: Realm.Configuration
  ) throws -> RealmSchema {
    do {
      guard let transaction else {
        let tables = try RealmSchema.bind(models, to: file.database, configuration, isFirst: false) { _ in []
        }
        .tables
        file.sync?.didCommit()
        let schema = file.classes.schema(of: models, tables, list)
        return file.classes.keep(schema, list)
      }
      let path = file.database.path
      let tables = try RealmSchema.bind(models, in: transaction, configuration, path: path).tables
      let own = provisional.flatMap(\.schema.bindings)
      // Classes whose tables the transaction neither made nor changed stay valid, however the transaction ends.
      let committed = Set(try file.database.snapshot().schemas())
      let found = file.classes.schema(of: models, tables, list, own: own)
      let lasting = found.bindings.filter { $0.table.map(committed.contains) ?? false }
      if lasting.count == found.bindings.count { return file.classes.keep(found, list) }
      file.classes.keep(lasting)
      // Other threads may have bound some of the classes meanwhile. This schema has their bindings.
      let schema = file.classes.schema(of: models, tables, list, own: own)
      noteProvisional(schema, list)
      return schema
    } catch let error as StorageError {
      throw Realm.Error(error)
    } catch let error as Realm.Error
      where error.code == .schemaMismatch && configuration.deleteRealmIfMigrationNeeded
    {
      throw Realm.Error(
        .alreadyOpen,
        "\(file.database.path) is open, and deleteRealmIfMigrationNeeded = true asks for it to be deleted, since: "
          + "\(error.localizedDescription) Let go of its realms and objects in this process first.",
        path: file.database.path)
    }
  }

  /// The schema whose tables exist now. It differs from `schema` if tables of `schema` were made in a transaction that
  /// was cancelled.
  func restored(_ schema: RealmSchema, _ configuration: Realm.Configuration) -> RealmSchema {
    guard isLost(schema) else { return schema }
    let models = schema.bindings.map(\.model)
    // The list with which the realm was opened may differ from this one. It is bound when a realm is opened with it
    // again.
    let list = ClassList(models.map(\.type))
    do {
      let made = try known(list) ?? bind(models, list, configuration)
      adopt(made, configuration)
      return made
    } catch {
      raise(
        "Unwritable realm",
        "the tables of classes were made in a transaction that was cancelled, and can't be made again: "
          + error.localizedDescription)
    }
  }
}
