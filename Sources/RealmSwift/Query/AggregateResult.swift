import RealmStorage

/// Converts the result of an aggregate to the type that the caller asked for.
enum Aggregate {
  static func extreme<T>(_ value: Value, as type: T.Type, of name: String) -> T? {
    if let found = result(value, as: type) { return found }
    let number: Double? =
      switch value {
      case .int(let number): Double(number)
      case .float(let number): Double(number)
      case .double(let number): number
      default: nil
      }
    if let found = number.flatMap({ result(average: $0, as: type) }) { return found }
    if case .null = value { return nil }
    raise("Invalid aggregate", "a value of \(name) is no \(T.self); ask for the type of the property.")
  }

  static func result<T>(_ value: Value, as type: T.Type) -> T? {
    if case .null = value { return nil }
    if let scalar = T.self as? any _Scalar.Type { return load(value, scalar) as? T }
    if let optional = T.self as? any WrappingScalar.Type { return optional.wrapped(value) as? T }
    return nil
  }

  static func result<T>(_ sum: Sum, as type: T.Type, of name: String) -> T? {
    switch sum {
    case .integer(let number):
      return result(.int(number), as: type) ?? result(average: Double(number), as: type)
    case .double(let number): return result(average: number, as: type)
    case .decimal(let number): return result(.decimal128(number), as: type)
    case .overflow: raise("Overflow", "the sum of \(name) passes 64 bits; add up parts of it.")
    }
  }

  static func result<T>(ofAverage value: Value, as type: T.Type) -> T? {
    guard case .double(let number) = value else { return result(value, as: type) }
    return result(average: number, as: type)
  }

  static func result<T>(average number: Double, as type: T.Type) -> T? {
    if let found = result(.double(number), as: type) ?? result(.float(Float(number)), as: type) {
      return found
    }
    return Int64(exactly: number.rounded(.towardZero)).flatMap { result(.int($0), as: type) }
  }

  fileprivate static func load<S: _Scalar>(_ value: Value, _ type: S.Type) -> Any? { S._load(value) }
}

private protocol WrappingScalar {
  static func wrapped(_ value: Value) -> Any?
}
extension Optional: WrappingScalar where Wrapped: _Scalar {
  static func wrapped(_ value: Value) -> Any? { Wrapped._load(value).map { Optional.some($0) as Any } }
}
