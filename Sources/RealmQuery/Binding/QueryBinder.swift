import RealmStorage

/// The language that the text of a query was read in, or whose rules apply to it.
public enum QueryLanguage: Sendable {
  /// Realm's own query language.
  case rql
  /// The format of NSPredicate, and what typed queries print.
  case predicateFormat
}

/// Looks up an object by its primary key, for `obj('Class', key)`: the row, or nil where there is none.
public typealias ObjectLookup = (_ table: UInt32, _ key: Value) -> UInt64?

/// Makes what the engine runs of what the text of a query says: it looks up the names, and checks the values.
///
/// An object as an argument is `.value(.typedLink(table:row:))`; the row `UInt64.max` stands for an object that is in no realm, which equals nothing. It takes time in
/// proportion to the number of nodes, and no more of the thread's stack for deep trees than for flat ones.
public struct QueryBinder {
  let names: QueryNames
  let table: UInt32
  let language: QueryLanguage
  let arguments: [QueryArgument]
  let text: String?
  let object: ObjectLookup?

  /// - Parameters:
  ///   - table: the id of the table whose rows are tested.
  ///   - text: the text that the syntax was read from, of which errors show a line; nil where there is none.
  ///   - object: looks up objects by primary key; without it `obj('Class', key)` is an error.
  public init(
    _ names: QueryNames, table: UInt32, language: QueryLanguage, arguments: [QueryArgument] = [],
    text: String? = nil, object: ObjectLookup? = nil
  ) {
    (self.names, self.table, self.language) = (names, table, language)
    (self.arguments, self.text, self.object) = (arguments, text, object)
  }

  /// The condition alone.
  ///
  /// - Throws: `QueryError` where a name is unknown, a value does not fit its place, or the query says what can't be tested; also where it has SORT, DISTINCT or LIMIT.
  public func predicate(_ syntax: QuerySyntax) throws(QueryError) -> Predicate {
    let run = try BindingRun(self, syntax.nodes)
    guard syntax.descriptors.isEmpty else {
      throw run.invalid(
        "SORT, DISTINCT and LIMIT can't stand here: the query is a condition only", .none)
    }
    return try run.condition()
  }

  /// The condition, and SORT, DISTINCT and LIMIT as steps. Of SORTs that follow each other the last counts most.
  ///
  /// - Throws: as `predicate(_:)`, and where a descriptor has a path that can't be sorted by.
  public func plan(_ syntax: QuerySyntax) throws(QueryError) -> RowPlan {
    let run = try BindingRun(self, syntax.nodes)
    var plan = RowPlan(table: table, predicate: try run.condition())
    for descriptor in syntax.descriptors { plan = plan.adding(try run.step(descriptor)) }
    return plan
  }
}
