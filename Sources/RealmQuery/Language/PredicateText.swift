import RealmStorage

extension QueryPrinter {
  /// The text of a condition on the rows of a table, with stored names, and with the values in the text. The text is
  /// empty if the condition holds for all rows.
  ///
  /// Conditions that say the same in the same order have the same text. The text is parsed again to make sure that it
  /// says what the condition says.
  ///
  /// - Parameters:
  ///   - table: the id of the table.
  ///   - tables: all tables that the condition may name.
  /// - Throws: `QueryError` if no text in Realm's query language can express the condition: for example, if it compares
  ///   with objects or collections, or ignores diacritics.
  package static func rql(
    _ predicate: Predicate, of table: UInt32, in tables: [TableSchema]
  ) throws(QueryError) -> String {
    let names = QueryNames(tables: tables)
    guard let schema = names.table(id: table) else {
      throw QueryError(.invalidQuery, "There is no table with the id \(table)", range: .none, in: nil)
    }
    let form = PlainForm(names: names)
    let plain = form.plain(predicate, schema)
    if case .always = plain { return "" }
    var writer = PredicateWriter(names)
    let text = try rql(try writer.syntax(plain, schema))
    let binder = QueryBinder(names, table: table, language: .rql, text: text)
    let bound = try binder.predicate(try QueryParser.rql(text))
    guard form.plain(bound, schema) == plain else {
      throw QueryError(
        .invalidQuery,
        "RQL can't say this query: what comes nearest, \(QueryError.shown(text)), says something else",
        range: .none, in: nil)
    }
    return text
  }
}
