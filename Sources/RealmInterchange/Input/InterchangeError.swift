/// What can't be exported or imported, and what to do.
package struct InterchangeError: Error, CustomStringConvertible, Sendable {
  package let description: String
  /// The target can't be written, for example because the disk is full.
  package let isOfTarget: Bool

  package init(_ description: String, isOfTarget: Bool = false) {
    (self.description, self.isOfTarget) = (description, isOfTarget)
  }
}
