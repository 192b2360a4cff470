extension AppDefinition {
  /// A predicate that says for which objects users have a right, and where it stands in the file.
  public struct Rule: Sendable, Equatable {
    /// The predicate in the query language, 1 to 8,192 bytes, without blanks at its ends. If the file says `true` or
    /// `false`, it is `TRUEPREDICATE` or `FALSEPREDICATE`.
    public var text: String
    /// The line on which the predicate begins; the first line is 1.
    public var line: Int
    /// The column at which the predicate begins, in Unicode scalars; the first column is 1. If the predicate begins
    /// with a quote or one of the signs `|` and `>`, it is the column of that.
    public var column: Int

    public init(text: String, line: Int, column: Int) {
      (self.text, self.line, self.column) = (text, line, column)
    }
  }

  /// What users may do with the objects of a class. A right that is nil is refused.
  public struct Rights: Sendable, Equatable {
    /// `read`: the rule that says who sees an object. The default is nil.
    public var read: Rule?
    /// `write`: the rule that says who changes an object. The default is nil.
    public var write: Rule?
    /// `insert`: the rule that says who creates an object. The default is `write`.
    public var insert: Rule?
    /// `delete`: the rule that says who deletes an object. The default is `write`.
    public var delete: Rule?

    /// - Parameters:
    ///   - insert: it is the same as `write` unless it is given.
    ///   - delete: it is the same as `write` unless it is given.
    public init(read: Rule? = nil, write: Rule? = nil, insert: Rule? = nil, delete: Rule? = nil) {
      (self.read, self.write) = (read, write)
      (self.insert, self.delete) = (insert ?? write, delete ?? write)
    }
  }
}
