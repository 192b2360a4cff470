import RealmStorage

/// The index of the history by the fields that filters may use. With it, a client that asks for a few objects costs the
/// reading of the changes of these objects, however many others there are.
extension ServerStore {
  /// The keys under which the changes of an entry stand in the index, each with the places of the objects in the entry.
  func routes(
    of history: HistoryEntry, _ transaction: WriteTransaction
  ) throws(StorageError) -> [[UInt8]: [Int]] {
    var found: [[UInt8]: [Int]] = [:]
    var keys: [String: [RouteKey]] = [:]
    for (place, object) in history.objects.enumerated() {
      let table = object.name.table
      if keys[table] == nil {
        guard let id = try transaction.table(table)?.schema.id else { continue }
        keys[table] = settings.fields(of: table).map { RouteKey(kind: Kind.routed, table: id, field: $0) }
      }
      for (field, key) in (keys[table] ?? []).enumerated() {
        var codes: [[UInt8]] = []
        for values in [object.before, object.after].compactMap(\.self) where field < values.count {
          let code = RouteKey.code(values[field])
          if codes.last != code { codes.append(code) }
        }
        for code in codes { found[key.key(code, history.version), default: []].append(place) }
      }
    }
    return found
  }

  /// Adds to `found` the changes behind a version that a route may cover: the places in the entries, by version.
  func places(
    _ route: FieldFilter.Route, table: UInt32, after version: UInt64,
    _ found: inout [UInt64: Set<Int>]
  ) throws(StorageError) {
    switch route {
    case .values(let field, let values):
      let key = RouteKey(kind: Kind.routed, table: table, field: field)
      for code in Set(values.map { RouteKey.code($0) }) {
        try forEach(key, from: key.key(code, version + 1)) {
          $0.elementsEqual(code)
        } in: {
          add($0, $1, &found)
        }
      }
    case .range(let field, let from, let to):
      let key = RouteKey(kind: Kind.routed, table: table, field: field)
      let last = to.map { RouteKey.code($0) }
      try forEach(key, from: key.start(from.map { RouteKey.code($0) } ?? [])) { code in
        guard let last else { return true }
        return code.elementsEqual(last) || code.lexicographicallyPrecedes(last)
      } in: {
        if $0 > version { add($0, $1, &found) }
      }
    case .prefix(let field, let text):
      guard case .string(let text) = text else { return }
      let key = RouteKey(kind: Kind.routed, table: table, field: field)
      let code = RouteKey.code(prefix: text)
      try forEach(key, from: key.start(code)) {
        $0.starts(with: code)
      } in: {
        if $0 > version { add($0, $1, &found) }
      }
    }
  }

  /// Calls `body` with the versions and places of the index from a key on, as long as `isWanted` accepts the codes.
  private func forEach(
    _ key: RouteKey, from start: [UInt8], while isWanted: (ArraySlice<UInt8>) -> Bool,
    in body: (UInt64, [Int]) -> Void
  ) throws(StorageError) {
    let damaged = tree.damaged
    try tree.forEach(from: start) { (found, value) throws(StorageError) in
      guard let (code, version) = key.split(found), isWanted(code) else { return false }
      var reader = ByteReader(value)
      var places: [Int] = []
      while !reader.isAtEnd {
        guard let place = reader.varint().flatMap(Int.init(exactly:)) else { throw damaged }
        places.append(place)
      }
      body(version, places)
      return true
    }
  }

  private func add(_ version: UInt64, _ places: [Int], _ found: inout [UInt64: Set<Int>]) {
    found[version, default: []].formUnion(places)
  }
}
