import RealmQuery
import RealmStorage
import Synchronization

/// The tables of a file as classes of dynamic objects, as they were at one time.
///
/// `KnownClasses` keeps it as long as the file is open, because classes and properties refer to it without keeping it.
final class TableModels: @unchecked Sendable {
  // Sendable: nothing of it changes once it is made.

  /// The tables it was made of.
  let tables: [TableSchema]
  /// The classes, each bound to its table, in the order of the tables.
  private(set) var bindings: [ClassBinding] = []
  private let byName: [String: Int]
  private let byTable: [UInt32: Int]
  private let keptNames = Mutex<QueryNames?>(nil)

  /// - Parameters:
  ///   - shown: answers the properties of a table that its objects have; all of them unless given.
  ///   - bind: binds a class to its table.
  init(
    _ tables: [TableSchema], shown: (TableSchema) -> ClassSchema?,
    bind: (ObjectModel, TableSchema) -> ClassBinding
  ) {
    self.tables = tables
    byName = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.name, $0) })
    byTable = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.id, $0) })
    bindings = tables.map { table in
      bind(ObjectModel(shown(table) ?? ClassSchema(table, among: tables), in: self), table)
    }
  }

  /// The names that queries of these classes use: those that are stored.
  var queryNames: QueryNames {
    keptNames.withLock { kept in
      let names = kept ?? QueryNames(tables: tables)
      kept = names
      return names
    }
  }

  func binding(named name: String) -> ClassBinding? { byName[name].map { bindings[$0] } }
  func binding(table: UInt32) -> ClassBinding? { byTable[table].map { bindings[$0] } }
}
