/// Rows of the conformance tables: texts, and what reading them alone decides.
enum Expected: Equatable {
  /// The text follows the grammar.
  case reads
  case syntax
  case invalidQuery
  case invalidArgument
}
