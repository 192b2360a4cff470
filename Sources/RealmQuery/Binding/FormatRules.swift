import RealmStorage

/// The rules for the values that formats accept for properties.
enum FormatRules {
  /// The constant as a value of a type; nil if the type does not accept it. Null and links are checked elsewhere.
  static func checked(_ constant: BoundConstant, _ type: ColumnType) -> Value? {
    switch (type, constant.value) {
    case (.mixed, .link): nil
    case (.mixed, let value): value.isMixed() ? value : nil
    case (.bool, .bool), (.int64, .int), (.string, .string), (.data, .data), (.date, .date),
      (.objectID, .objectID), (.uuid, .uuid), (.float, .float), (.double, .double):
      constant.value
    case (.bool, .int(let number)): number == 0 || number == 1 ? .bool(number == 1) : nil
    case (.int64, .bool(let flag)): .int(flag ? 1 : 0)
    case (.float, .int(let number)): .float(Float(number))
    case (.float, .double(let number)): float(number)
    case (.double, .int(let number)): .double(Double(number))
    case (.double, .float(let number)): .double(Double(number))
    case (.uuid, .string(let text)): ConstantRules.uuid(text).map { .uuid($0) }
    case (.decimal128, .string(let text)):
      DecimalNumber(parsing: text).map { .decimal128($0.stored) }
    case (.decimal128, _): ConstantRules.decimal(constant)
    default: nil
    }
  }

  /// The double rounded to a float; nil if its magnitude is greater than that of each finite float. NaN stays NaN.
  private static func float(_ number: Double) -> Value? {
    let isInRange = number.isNaN || abs(number) <= Double(Float.greatestFiniteMagnitude)
    return isInRange ? .float(Float(number)) : nil
  }
}
