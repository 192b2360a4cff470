/// What can't be exported or imported, and what to do.
package struct InterchangeError: Error, CustomStringConvertible, Sendable {
  package let description: String

  package init(_ description: String) { self.description = description }
}
