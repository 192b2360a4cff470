import RealmStorage

/// The objects that a replica sees: those that match its query set, that its user may read, and that are in its
/// partition.
package struct View: Sendable, Equatable {
  package var querySet: ClassFilters
  package var read: ClassFilters
  package var asking: FieldFilter.Asking

  package init(querySet: ClassFilters, read: ClassFilters, asking: FieldFilter.Asking) {
    (self.querySet, self.read, self.asking) = (querySet, read, asking)
  }

  /// The view without objects, which a new replica has before its first step.
  package static let empty = View(querySet: ClassFilters(), read: ClassFilters(), asking: .init(user: ""))

  /// Whether an object of a class is in the view.
  ///
  /// - Parameter values: the object's values in the fields of its class that filters may use; nil if there is no
  ///   object.
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

  /// Whether all objects of a class are in the view, whatever their values are.
  func showsAll(of table: String) -> Bool {
    asking.partition == nil && querySet[table].terms.contains([]) && read[table].terms.contains([])
  }

  /// Whether no object of a class is in the view, whatever its values are.
  func showsNothing(of table: String) -> Bool {
    querySet[table].terms.isEmpty || read[table].terms.isEmpty
  }

  /// The routes that lead to all changes of a class that may concern this view; nil if all changes have to be looked
  /// at.
  func routes(of table: String, _ settings: ServerState.Settings) -> [FieldFilter.Route]? {
    if let partition = asking.partition, let property = settings.partitionProperty {
      return [.values(field: property, [partition])]
    }
    return querySet[table].routes(asking) ?? read[table].routes(asking)
  }

  /// Whether two views contain the same objects of a class, because their filters and the data that the filters ask for
  /// are equal.
  func shows(sameAs other: View, of table: String) -> Bool {
    querySet[table] == other.querySet[table] && read[table] == other.read[table] && asking == other.asking
  }
}

extension ServerState {
  /// The number of the newest query set of a replica that is not newer than the wanted one. A session begins with it.
  /// It is 0 if there is none.
  package func newestQuerySet(of replica: UInt64, upTo wanted: UInt64) -> UInt64 {
    replicas[replica]?.querySets.keys.filter { $0 <= wanted }.max() ?? 0
  }

  /// The view of a replica with a query set.
  ///
  /// - Parameters:
  ///   - querySet: the number of the query set; 0 shows nothing.
  ///   - version: the version whose rules and data of users apply; nil for the newest version.
  package func view(of replica: UInt64, querySet: UInt64, at version: UInt64? = nil) -> View {
    guard let known = replicas[replica] else { return .empty }
    return view(known, querySet: known.querySets[querySet] ?? ClassFilters(), at: version ?? self.version)
  }

  func view(_ replica: Replica, querySet: ClassFilters, at version: UInt64) -> View {
    View(
      querySet: querySet, read: rules(of: replica.user, at: version).read,
      asking: asking(replica.user, partition: replica.partition(at: version), at: version))
  }

  /// Whether the rules or the data of a replica's user, or its partition, have changed in the versions behind `old` up
  /// to `new`.
  func isViewMoved(_ replica: Replica, from old: UInt64, to new: UInt64) -> Bool {
    let changes =
      [rules[replica.user], rules[""]].flatMap { ($0 ?? []).map(\.from) }
      + (users[replica.user] ?? []).map(\.from)
    return changes.contains { $0 > old && $0 <= new }
      || replica.partition(at: old) != replica.partition(at: new)
  }
}
