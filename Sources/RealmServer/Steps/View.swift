import RealmStorage

/// The objects that a replica sees: what its query set shows of what its user may read, in its partition.
package struct View: Sendable, Equatable {
  package var querySet: ClassFilters
  package var read: ClassFilters
  package var asking: FieldFilter.Asking

  package init(querySet: ClassFilters, read: ClassFilters, asking: FieldFilter.Asking) {
    (self.querySet, self.read, self.asking) = (querySet, read, asking)
  }

  /// Nothing: what a new replica sees before its first step.
  package static let empty = View(querySet: ClassFilters(), read: ClassFilters(), asking: .init(user: ""))

  /// Whether an object of a class is seen.
  ///
  /// - Parameter values: what it has in the fields of its class that filters may use; nil where there is none.
  package func shows(_ values: [Value]?, of table: String, _ settings: ServerState.Settings) -> Bool {
    guard let values else { return false }
    let names = settings.fields(of: table)
    if let partition = asking.partition, let property = settings.partitionProperty {
      guard let field = names.firstIndex(of: property), field < values.count, values[field] == partition
      else {
        return false
      }
    }
    return querySet[table].matches(values, of: names, asking)
      && read[table].matches(values, of: names, asking)
  }

  /// Whether all objects of a class are seen, whatever they have.
  func showsAll(of table: String) -> Bool {
    asking.partition == nil && querySet[table].terms.contains([]) && read[table].terms.contains([])
  }

  /// Whether no object of a class is seen, whatever it has.
  func showsNothing(of table: String) -> Bool {
    querySet[table].terms.isEmpty || read[table].terms.isEmpty
  }

  /// Ways to find the changes of a class that concern who sees this; nil where all are to be looked at.
  func routes(of table: String, _ settings: ServerState.Settings) -> [FieldFilter.Route]? {
    if let partition = asking.partition, let property = settings.partitionProperty {
      return [.values(field: property, [partition])]
    }
    return querySet[table].routes(asking) ?? read[table].routes(asking)
  }

  /// Whether the same objects of a class are seen, whatever they have.
  func shows(sameAs other: View, of table: String) -> Bool {
    querySet[table] == other.querySet[table] && read[table] == other.read[table] && asking == other.asking
  }
}

extension ServerState {
  /// The newest query set that the server has of those up to the one that a replica wants: a session begins with it. 0 where it has none.
  package func newestQuerySet(of replica: UInt64, upTo wanted: UInt64) -> UInt64 {
    replicas[replica]?.querySets.keys.filter { $0 <= wanted }.max() ?? 0
  }

  /// What a replica sees with a query set.
  ///
  /// - Parameters:
  ///   - querySet: its number; 0 shows nothing.
  ///   - version: at which it sees it; nil of the newest.
  package func view(of replica: UInt64, querySet: UInt64, at version: UInt64? = nil) -> View {
    guard let known = replicas[replica] else { return .empty }
    return view(known, querySet: known.querySets[querySet] ?? ClassFilters(), at: version ?? self.version)
  }

  func view(_ replica: Replica, querySet: ClassFilters, at version: UInt64) -> View {
    View(
      querySet: querySet, read: rules(of: replica.user, at: version).read,
      asking: asking(replica.user, partition: replica.partition(at: version), at: version))
  }

  /// Whether what a replica may read has changed between two versions, or its partition.
  func isViewMoved(_ replica: Replica, from old: UInt64, to new: UInt64) -> Bool {
    let changes =
      [rules[replica.user], rules[""]].flatMap { ($0 ?? []).map(\.from) }
      + (users[replica.user] ?? []).map(\.from)
    return changes.contains { $0 > old && $0 <= new }
      || replica.partition(at: old) != replica.partition(at: new)
  }
}
