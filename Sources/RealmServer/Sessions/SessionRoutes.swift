import RealmStorage

/// Finds the sessions that a change may concern, without a look at each session. A session that selects objects by the
/// value of a field stands under that value.
///
/// It may find sessions that a change does not concern, but it finds all that the change concerns.
struct SessionRoutes {
  private struct Key: Hashable {
    let table: String
    let field: String
    let code: [UInt8]
  }

  private struct Entry {
    var keys: [Key] = []
    /// The routes that are not values of a field, with their classes.
    var others: [(table: String, route: FieldFilter.Route)] = []
    var isRouted = true
  }

  private let settings: ServerState.Settings
  /// The classes that the entries were made for.
  private(set) var tables: Set<String> = []
  private var byKey: [Key: Set<SyncServer.SessionID>] = [:]
  private var entries: [SyncServer.SessionID: Entry] = [:]
  /// The sessions that values of fields alone do not find: they have other routes, or a class without routes.
  private var others: Set<SyncServer.SessionID> = []

  /// The number of sessions that have a class without routes, so that each change may concern them.
  var countOfUnrouted: Int { entries.values.count { !$0.isRouted } }

  init(_ settings: ServerState.Settings) { self.settings = settings }

  /// Sets the classes when there are more of them. The caller then has to note all sessions anew.
  mutating func setTables(_ tables: Set<String>) {
    self = SessionRoutes(settings)
    self.tables = tables
  }

  /// Notes the view of a session.
  mutating func note(_ id: SyncServer.SessionID, _ view: View) {
    remove(id)
    var entry = Entry()
    for table in tables {
      guard let routes = view.routes(of: table, settings) else {
        entry.isRouted = false
        continue
      }
      for route in routes {
        guard case .values(let field, let values) = route else {
          entry.others.append((table, route))
          continue
        }
        for value in values {
          entry.keys.append(Key(table: table, field: field, code: RouteKey.code(value)))
        }
      }
    }
    for key in entry.keys { byKey[key, default: []].insert(id) }
    if !entry.isRouted || !entry.others.isEmpty { others.insert(id) }
    entries[id] = entry
  }

  mutating func remove(_ id: SyncServer.SessionID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    others.remove(id)
    for key in entry.keys {
      byKey[key]?.remove(id)
      if byKey[key]?.isEmpty == true { byKey[key] = nil }
    }
  }

  /// Adds the sessions that an entry of the history may concern.
  func add(_ history: HistoryEntry, to found: inout Set<SyncServer.SessionID>) {
    for object in history.objects {
      let table = object.name.table
      let names = settings.fields(of: table)
      for values in [object.before, object.after].compactMap(\.self) {
        for (field, value) in zip(names, values) {
          let key = Key(table: table, field: field, code: RouteKey.code(value))
          if let sessions = byKey[key] { found.formUnion(sessions) }
        }
        for id in others where !found.contains(id) {
          guard let entry = entries[id] else { continue }
          let isConcerned =
            !entry.isRouted
            || entry.others.contains { $0.table == table && $0.route.covers(values, of: names) }
          if isConcerned { found.insert(id) }
        }
      }
    }
  }
}
