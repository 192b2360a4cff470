extension ValueOrder {
  /// The value that stands for all values of a column that a sort treats as equal.
  static func canonical(_ value: Value, of column: Column) -> Value {
    column.type == .mixed ? canonical(mixed: value) : canonical(value)
  }

  /// Equal numbers of all types become the same value.
  private static func canonical(mixed value: Value) -> Value {
    switch value {
    case .float(let number): return canonical(mixed: .double(Double(number)))
    case .double(let number): return Int64(exactly: number).map { .int($0) } ?? canonical(value)
    case .decimal128(let stored):
      let number = DecimalNumber(DecimalNumber(stored).canonical)
      if let whole = number.whole { return .int(whole) }
      let double = Double(number.text) ?? .nan
      if number.isNaN || number.order(DecimalNumber(double)) == 0 { return canonical(mixed: .double(double)) }
      return .decimal128(number.stored)
    case .list(let elements, _): return .list(elements.map { canonical(mixed: $0) })
    case .map(let map, _): return .map(map.mapped { canonical(mixed: $0) })
    default: return value
    }
  }

  private static func canonical(_ value: Value) -> Value {
    switch value {
    case .float(let number): .float(number.isNaN ? .nan : number == 0 ? 0 : number)
    case .double(let number): .double(number.isNaN ? .nan : number == 0 ? 0 : number)
    case .decimal128(let stored): .decimal128(DecimalNumber(stored).canonical)
    default: value
    }
  }
}
