/// Parses the texts of queries.
///
/// A text may have 1 MiB, and 10,000 parentheses, NOTs and subqueries may be open at the same time. Parsing takes time
/// in proportion to the length of the text, and uses no more stack for deep brackets than for flat ones.
public enum QueryParser {
  /// Parses a query in Realm's own query language: a condition, and SORT, DISTINCT and LIMIT after it. Names and
  /// arguments are not looked up.
  ///
  /// - Throws: `QueryError` if the text does not follow the grammar, or says something that no query can mean.
  public static func rql(_ text: String) throws(QueryError) -> QuerySyntax {
    var parser = try RQLParser(SourceText(checking: text))
    return try parser.parse()
  }

  /// Parses a condition in the format of `NSPredicate`.
  ///
  /// Each specifier of a value, such as `%@` or `%d`, becomes a node with the position of its argument. `%K` is
  /// replaced by the key path in its argument.
  ///
  /// - Throws: `QueryError` if the text does not follow the grammar or says something that no query can mean, if an
  ///   argument is missing, or if the argument of `%K` is not a key path.
  public static func predicateFormat(
    _ text: String, arguments: [QueryArgument] = []
  ) throws(QueryError) -> QuerySyntax {
    var parser = try FormatParser(SourceText(checking: text), arguments)
    return try parser.parse()
  }
}
