/// Reads the texts of queries.
///
/// A text may have 1 MiB, and 10,000 parentheses, NOTs and subqueries may be open at a time. Reading takes time in proportion to its length, and no more of the thread's stack for deep
/// brackets than for flat ones.
public enum QueryParser {
  /// Reads a query in Realm's own query language: a condition, and SORT, DISTINCT and LIMIT behind it.
  ///
  /// Names and arguments are not looked at.
  ///
  /// - Throws: `QueryError` where the text does not follow the grammar, or says what no query can mean.
  public static func rql(_ text: String) throws(QueryError) -> QuerySyntax {
    var parser = try RQLParser(SourceText(checking: text))
    return try parser.parse()
  }

  /// Reads a condition in the format of NSPredicate.
  ///
  /// Each specifier of a value, such as `%@` or `%d`, becomes a node that names the position of its argument. The key path
  /// in the argument of `%K` is put in its place.
  ///
  /// - Throws: `QueryError` where the text does not follow the grammar or says what no query can mean, and where an argument
  ///   is missing or is no key path where the text needs one.
  public static func predicateFormat(
    _ text: String, arguments: [QueryArgument] = []
  ) throws(QueryError) -> QuerySyntax {
    var parser = try FormatParser(SourceText(checking: text), arguments)
    return try parser.parse()
  }
}
