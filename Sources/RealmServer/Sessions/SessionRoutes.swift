import RealmStorage

/// Tells which sessions a change may concern, without asking each: a session that looks for objects by the value of a field stands under that value.
///
/// It may name a session that a change does not concern, never too few.
struct SessionRoutes {
  private struct Key: Hashable {
    let table: String
    let field: String
    let code: [UInt8]
  }

  private struct Entry {
    var keys: [Key] = []
    /// Routes that are no single values.
    var others: [(table: String, route: FieldFilter.Route)] = []
    var isRouted = true
  }

  private let settings: ServerState.Settings
  /// The classes that the entries were made for.
  private(set) var tables: Set<String> = []
  private var byKey: [Key: Set<SyncServer.SessionID>] = [:]
  private var entries: [SyncServer.SessionID: Entry] = [:]
  /// Sessions that stand under more than values.
  private var others: Set<SyncServer.SessionID> = []

  /// Sessions whose queries or rules can't be looked up by values.
  var countOfUnrouted: Int { entries.values.count { !$0.isRouted } }

  init(_ settings: ServerState.Settings) { self.settings = settings }

  /// There are more classes: all sessions are to be noted anew.
  mutating func setTables(_ tables: Set<String>) {
    self = SessionRoutes(settings)
    self.tables = tables
  }

  /// Notes what a session looks for.
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
