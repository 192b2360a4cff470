public import RealmQuery
import RealmStorage

/// Why the text of a query can't be used: what is wrong, where, and what was probably meant.
public typealias QueryError = RealmQuery.QueryError

extension RealmCollection {
  /// The objects of which a condition holds that is written in the format of `NSPredicate`.
  ///
  ///     people.filter("age > %@ AND ANY dogs.name BEGINSWITH[c] %@", 30, "r")
  ///
  /// Names are those of the class, or those that are stored. Texts are compared by their bytes; with `[c]` capital and small letters are the same, with `[d]` letters with and without
  /// diacritics. A text that comes from a user is better read by `query(_:_:)`, which throws where it makes no sense.
  ///
  /// - Parameters:
  ///   - predicateFormat: a format; one that makes no sense for the class stops the program, and tells why.
  ///   - args: values for `%@` and key paths for `%K`, in the order of the format. Nil is null; an object, an array of values and a collection are such, too.
  public func filter(_ predicateFormat: String, _ args: Any?...) -> Results<Element> {
    let content = managedContent("filtered")
    return Results(content.filtered(content.context.predicate(format: predicateFormat, args)))
  }

  /// The objects that a query in Realm's query language finds.
  ///
  ///     try people.query("age > $0 AND dogs.name BEGINSWITH[c] $1 SORT(age DESC) LIMIT(10)", 30, "r")
  ///
  /// - Parameters:
  ///   - text: a condition, and SORT, DISTINCT and LIMIT behind it.
  ///   - arguments: values for `$0`, `$1` and so on, and key paths for `$K0`.
  /// - Throws: `QueryError`, where the text can't be read or makes no sense for the class.
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

  /// The place of the first object of which a condition in the format of `NSPredicate` holds; nil where there is none. See `filter(_:_:)`.
  public func index(matching predicateFormat: String, _ args: Any?...) -> Int? {
    let content = managedContent("queried")
    return content.index(where: content.context.predicate(format: predicateFormat, args))
  }
}

extension ObjectContext {
  /// What names mean in queries of these objects.
  fileprivate var queryNames: QueryNames { binding.model.family?.queryNames ?? session.schema.queryNames }

  /// A format by the columns of the class.
  ///
  /// - Precondition: the format can be read and makes sense for the class: otherwise the program stops.
  func predicate(format text: String, _ args: [Any?]) -> RealmStorage.Predicate {
    let arguments = args.map { session.argument(of: $0) }
    do throws(QueryError) {
      return predicate(
        try QueryParser.predicateFormat(text, arguments: arguments), .predicateFormat, arguments, text: text)
    } catch {
      stop(error)
    }
  }

  /// A condition by the columns of the class.
  ///
  /// - Precondition: it makes sense for the class: otherwise the program stops.
  func predicate(
    _ syntax: QuerySyntax, _ language: QueryLanguage, _ arguments: [QueryArgument], text: String?
  ) -> RealmStorage.Predicate {
    // A realm that is only read may have no such table, and then no objects.
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
  /// The row that has a primary key, of a class that is stored in a table; nil where there is none.
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
