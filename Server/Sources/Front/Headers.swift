/// The headers of a request, in the order in which they came.
///
/// Their number and size are limited (`FrontLimits`).
public struct Headers: Sendable, Equatable {
  private struct Field: Sendable, Equatable {
    let name: String
    let value: String
  }

  private let fields: [Field]

  public init(_ fields: [(name: String, value: String)] = []) {
    self.fields = fields.map { Field(name: $0.name.lowercased(), value: $0.value) }
  }

  /// The value of the first header with a name. Upper and lower case are equal in names.
  public subscript(name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name == name }?.value
  }

  /// The values of all headers with a name. Upper and lower case are equal in names.
  public func all(_ name: String) -> [String] {
    let name = name.lowercased()
    return fields.filter { $0.name == name }.map(\.value)
  }
}
