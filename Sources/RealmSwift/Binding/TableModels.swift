import RealmQuery
import RealmStorage
import Synchronization

/// The tables of a file as classes of dynamic objects, as the tables were at one time.
///
/// `KnownClasses` keeps it alive as long as the file is open, because classes and properties refer to it without keeping it.
final class TableModels: @unchecked Sendable {
  // Sendable because nothing in it changes after it was made.

  /// The tables of which the classes were made.
  let tables: [TableSchema]
  /// The classes, each bound to its table, in the order of the tables.
  private(set) var bindings: [ClassBinding] = []
  private let byName: [String: Int]
  private let byTable: [UInt32: Int]
  private let keptNames = Mutex<QueryNames?>(nil)

  /// Makes the classes of tables.
  ///
  /// - Parameters:
  ///   - shown: answers the properties of a table that its objects have; nil for all properties.
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

  /// The names in queries of these classes: the stored names.
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
