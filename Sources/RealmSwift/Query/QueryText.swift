public import RealmQuery
import RealmStorage

/// Why the text of a query can't be used: what is wrong, at which place, and what was probably meant.
public typealias QueryError = RealmQuery.QueryError

extension RealmCollection {
  /// The objects for which a condition in the format of `NSPredicate` holds. The results are live.
  ///
  ///     people.filter("age > %@ AND ANY dogs.name BEGINSWITH[c] %@", 30, "r")
  ///
  /// Properties have the names of the class or those of the stored columns. Texts are compared by their bytes. With `[c]`,
  /// capital and small letters are equal; with `[d]`, letters with and without diacritics are. For a text that comes from a user,
  /// `query(_:_:)` is better: it throws if the text makes no sense.
  ///
  /// - Parameters:
  ///   - predicateFormat: the condition. A format that makes no sense for the class stops the program, with a message that says
  ///     why.
  ///   - args: values for `%@` and key paths for `%K`, in the order of the format. Nil stands for null. A value may also be an
  ///     object, an array of values or a collection.
  /// - Precondition: the collection is managed and holds objects.
  public func filter(_ predicateFormat: String, _ args: Any?...) -> Results<Element> {
    let content = managedContent("filtered")
    return Results(content.filtered(content.context.predicate(format: predicateFormat, args)))
  }

  /// The objects that a query in Realm's query language finds. The results are live.
  ///
  ///     try people.query("age > $0 AND dogs.name BEGINSWITH[c] $1 SORT(age DESC) LIMIT(10)", 30, "r")
  ///
  /// - Parameters:
  ///   - text: a condition, and SORT, DISTINCT and LIMIT after it.
  ///   - arguments: values for `$0`, `$1` and so on, and key paths for `$K0` and so on.
  /// - Precondition: the collection is managed and holds objects.
  /// - Throws: `QueryError`, if the text can't be read or makes no sense for the class.
  public func query(_ text: String, _ arguments: Any?...) throws -> Results<Element> {
    let content = managedContent("queried")
    let context = content.context
    guard let table = context.binding.table else { return Results(content.filtered(.never)) }
    let syntax = try QueryParser.rql(text)
    let binder = QueryBinder(
      context.queryNames, table: table.id, language: .rql,
      arguments: arguments.map { context.session.argument(of: $0) }, text: text
    ) { context.session.row(table: $0, key: $1) }
    let plan = try binder.plan(syntax)
    return Results(plan.steps.reduce(content.filtered(plan.predicate)) { $0.adding($1) })
  }

  /// The index of the first object for which a condition in the format of `NSPredicate` holds; nil if there is none. See
  /// `filter(_:_:)`.
  public func index(matching predicateFormat: String, _ args: Any?...) -> Int? {
    let content = managedContent("queried")
    return content.index(where: content.context.predicate(format: predicateFormat, args))
  }
}

extension ObjectContext {
  /// The meaning of names in queries of these objects.
  fileprivate var queryNames: QueryNames { binding.model.family?.queryNames ?? session.schema.queryNames }

  /// Translates a format to the columns of the class.
  ///
  /// - Precondition: the format can be read and makes sense for the class. Otherwise the program stops.
  func predicate(format text: String, _ args: [Any?]) -> RealmStorage.Predicate {
    let arguments = args.map { session.argument(of: $0) }
    do throws(QueryError) {
      return predicate(
        try QueryParser.predicateFormat(text, arguments: arguments), .predicateFormat, arguments, text: text)
    } catch {
      stop(error)
    }
  }

  /// Translates a condition to the columns of the class.
  ///
  /// - Precondition: the condition makes sense for the class. Otherwise the program stops.
  func predicate(
    _ syntax: QuerySyntax, _ language: QueryLanguage, _ arguments: [QueryArgument], text: String?
  ) -> RealmStorage.Predicate {
    // A read-only realm may lack the table, and then has no objects of the class.
    guard let table = binding.table else { return .never }
    let binder = QueryBinder(
      queryNames, table: table.id, language: language, arguments: arguments, text: text)
    do throws(QueryError) { return try binder.predicate(syntax) } catch { stop(error) }
  }

  private func stop(_ error: QueryError) -> Never {
    raise(error.kind.rawValue, "a query of \(binding.model.name): \(error)")
  }
}

extension RealmSession {
  /// The row that has a primary key in the table of a class; nil if there is none.
  fileprivate func row(table id: UInt32, key: Value) -> UInt64? {
    guard let context = schema.binding(table: id).map({ context($0) }) ?? tableContext(id),
      let primaryKey = context.binding.model.primaryKey
    else { return nil }
    let binding = context.binding
    return reading { () throws(StorageError) in
      guard let table = try context.currentTable() else { return nil }
      return try table.rows(where: .compare(ColumnPath(binding.columns[primaryKey]), .equal, key)).first
    }
  }
}
