import RealmStorage

/// The language of a query's text, whose rules apply to it.
public enum QueryLanguage: Sendable {
  /// Realm's own query language.
  case rql
  /// The format of `NSPredicate`, which typed queries also print.
  case predicateFormat
}

/// A closure that looks up an object by its primary key, for `obj('Class', key)`.
///
/// - Parameters:
///   - table: the id of the object's table.
///   - key: the primary key.
/// - Returns: the key of the row; nil if there is no such object.
public typealias ObjectLookup = (_ table: UInt32, _ key: Value) -> UInt64?

/// Turns the parsed text of a query into a predicate or a plan for the engine: it looks up the names, and checks the
/// values.
///
/// An object as an argument is `.value(.typedLink(table:row:))`. The row `UInt64.max` stands for an object that belongs
/// to no realm, and that equals nothing. Binding takes time in proportion to the number of nodes, and uses no more
/// stack for deep trees than for flat ones.
public struct QueryBinder {
  let names: QueryNames
  let table: UInt32
  let language: QueryLanguage
  let arguments: [QueryArgument]
  let text: String?
  let object: ObjectLookup?

  /// Makes a binder.
  ///
  /// - Parameters:
  ///   - names: the meaning of names.
  ///   - table: the id of the table whose rows are tested.
  ///   - language: the language whose rules apply.
  ///   - arguments: the arguments of the query, by their positions.
  ///   - text: the text from which the query was read, of which errors show a line; nil if there is none.
  ///   - object: looks up objects by primary key; if it is nil, `obj('Class', key)` is an error.
  public init(
    _ names: QueryNames, table: UInt32, language: QueryLanguage, arguments: [QueryArgument] = [],
    text: String? = nil, object: ObjectLookup? = nil
  ) {
    (self.names, self.table, self.language) = (names, table, language)
    (self.arguments, self.text, self.object) = (arguments, text, object)
  }

  /// The predicate of a query that is only a condition.
  ///
  /// - Throws: `QueryError` if a name is unknown, a value does not fit its place, the query says something that can't
  ///   be tested, or it has SORT, DISTINCT or LIMIT.
  public func predicate(_ syntax: QuerySyntax) throws(QueryError) -> Predicate {
    let run = try BindingRun(self, syntax.nodes)
    guard syntax.descriptors.isEmpty else {
      throw run.invalid(
        "SORT, DISTINCT and LIMIT can't be used here: the query must be a condition only", .none)
    }
    return try run.condition()
  }

  /// The plan of a query: its condition, and SORT, DISTINCT and LIMIT as steps. If several SORTs follow one another,
  /// the last one counts most.
  ///
  /// - Throws: `QueryError` if a name is unknown, a value does not fit its place, the query says something that can't
  ///   be tested, or a descriptor has a path by which rows can't be sorted.
  public func plan(_ syntax: QuerySyntax) throws(QueryError) -> RowPlan {
    let run = try BindingRun(self, syntax.nodes)
    var plan = RowPlan(table: table, predicate: try run.condition())
    for descriptor in syntax.descriptors { plan = plan.adding(try run.step(descriptor)) }
    return plan
  }
}
