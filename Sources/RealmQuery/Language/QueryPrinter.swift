import RealmStorage

/// Prints queries in Realm's own query language.
public enum QueryPrinter {
  /// The text of a query in a fixed form: capital keywords, single spaces, and only the parentheses that are needed.
  /// Parsing the text gives an equal tree.
  ///
  /// Takes time in proportion to the length of the text, which is parsed again to make sure of that.
  ///
  /// - Throws: `QueryError` of the kind `invalidQuery` if RQL can't express the query: for example `[d]`, MATCHES,
  ///   SELF, and lists of anything but constants. The range is that of the part in the text from which the tree was
  ///   parsed, if there is one.
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
