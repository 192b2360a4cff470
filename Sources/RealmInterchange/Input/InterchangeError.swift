/// A reason why something can't be exported or imported, with advice if there is some.
package struct InterchangeError: Error, CustomStringConvertible, Sendable {
  package let description: String
  /// Whether the error is that the target can't be written, for example because the disk is full.
  package let isOfTarget: Bool

  package init(_ description: String, isOfTarget: Bool = false) {
    (self.description, self.isOfTarget) = (description, isOfTarget)
  }
}
