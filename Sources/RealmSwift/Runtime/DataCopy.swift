import Foundation

extension Data {
  /// The bytes of a span.
  init(copying span: RawSpan) { self = span.withUnsafeBytes { Data($0) } }
}
