/// A value that is compared as sets compare their elements: numbers of all types by their values, with all NaN equal to one
/// another; texts by their bytes; and all other values by their stored form.
public struct SetElement: Hashable, Sendable {
  /// The value.
  public let value: Value

  /// Makes an element of a value.
  public init(_ value: Value) { self.value = value }

  /// Whether a set would treat both as the same element.
  public static func == (left: SetElement, right: SetElement) -> Bool {
    ValueOrder.sort(left.value, right.value) == 0
  }

  public func hash(into hasher: inout Hasher) {
    switch value {
    case .int(let number): hasher.combine(number)
    case .float(let number): Self.hash(Double(number), into: &hasher)
    case .double(let number): Self.hash(number, into: &hasher)
    case .decimal128(let stored):
      let number = DecimalNumber(DecimalNumber(stored).canonical)
      if let whole = number.whole {
        hasher.combine(whole)
      } else {
        Self.hash(number.isNaN ? .nan : Double(number.text) ?? .nan, into: &hasher)
      }
    case .list(let elements, _):
      hasher.combine(elements.count)
      for element in elements { hasher.combine(SetElement(element)) }
    case .map(let map, _):
      hasher.combine(map.count)
      for element in map.values { hasher.combine(SetElement(element)) }
    default: hasher.combine(value)
    }
  }

  /// Hashes a number so that all numbers that equal a double have the same hash.
  private static func hash(_ number: Double, into hasher: inout Hasher) {
    if let whole = Int64(exactly: number) {
      hasher.combine(whole)
    } else {
      hasher.combine(number.isNaN ? Double.nan.bitPattern : number.bitPattern)
    }
  }
}
