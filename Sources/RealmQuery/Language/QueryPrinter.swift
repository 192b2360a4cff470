import RealmStorage

/// Prints queries in Realm's own query language.
public enum QueryPrinter {
  /// The text of a query in one form out of the many that RQL has: capital keywords, single blanks, no parentheses that
  /// change nothing. Parsing it gives an equal tree.
  ///
  /// It takes time in proportion to the length of the text, which is parsed once more to be sure of that.
  ///
  /// - Throws: `QueryError` of the kind `invalidQuery` where RQL can't say the query. `[d]`, MATCHES, SELF, and lists of
  ///   anything but constants are such. The range is that of the part in the text that the tree was read from, where it was
  ///   read from one.
  public static func rql(_ syntax: QuerySyntax) throws(QueryError) -> String {
    var writer = RQLWriter(syntax)
    let text = try writer.write()
    do {
      if try QueryParser.rql(text) == syntax { return text }
    } catch {
      throw QueryError(
        .invalidQuery,
        "RQL can't say this query: what comes nearest, \(QueryError.shown(text)), is refused. "
          + error.message, range: .none, in: nil)
    }
    throw QueryError(
      .invalidQuery,
      "RQL can't say this query: what comes nearest, \(QueryError.shown(text)), says something else",
      range: .none, in: nil)
  }
}
