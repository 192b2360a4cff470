import Foundation

extension Data {
  /// Copies the bytes of a span.
  init(copying span: RawSpan) { self = span.withUnsafeBytes { Data($0) } }
}
