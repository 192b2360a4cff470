package import RealmStorage

/// Reads values that hold neither links nor other values.
extension ValueReader {
  /// The value of a type that JSON gives.
  ///
  /// - Parameter type: any type but `link` and `mixed`.
  package static func plain(_ node: JSONNode, _ type: ColumnType) throws(Problem) -> Value {
    switch type {
    case .bool:
      guard let flag = node.bool else { throw Problem(node, "is neither true nor false.") }
      return .bool(flag)
    case .int64: return .int(try integer(node))
    case .float: return .float(try float(node))
    case .double: return .double(try double(node))
    case .string:
      guard let text = node.string else { throw Problem(node, "is no text.") }
      return .string(text)
    case .data:
      guard let bytes = (node.string ?? node.tagged("$data")?.string).flatMap(Base64.bytes) else {
        throw Problem(node, "is no data in base64.")
      }
      return .data(bytes)
    case .date: return .date(try date(node))
    case .objectID:
      let bytes = (node.string ?? node.tagged("$objectID")?.string).flatMap { Hexadecimal.bytes($0) }
      guard let bytes, bytes.count == 12 else {
        throw Problem(node, "is no object id: that has 24 hexadecimal digits.")
      }
      return .objectID(ObjectIDBytes(bytes))
    case .uuid:
      guard let bytes = (node.string ?? node.tagged("$uuid")?.string).flatMap(UUIDText.bytes) else {
        throw Problem(node, "is no UUID.")
      }
      return .uuid(SixteenBytes(bytes))
    case .decimal128: return .decimal128(try decimal(node))
    case .link, .mixed: preconditionFailure("a value of type \(type) is not read here")
    }
  }

  static func unsigned(_ node: JSONNode) throws(Problem) -> UInt64 {
    let text: String? =
      if case .number(let text) = node.content { text } else { node.tagged("$int")?.string }
    guard let text, let number = UInt64(text) else { throw Problem(node, "is no key of a row.") }
    return number
  }

  private static func integer(_ node: JSONNode) throws(Problem) -> Int64 {
    let text: String? =
      if case .number(let text) = node.content { text } else { node.tagged("$int")?.string }
    guard let text else { throw Problem(node, "is no whole number.") }
    if let number = Int64(text) { return number }
    // Some programs write integers as 3.0.
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.allSatisfy({ $0 == UInt8(ascii: "0") }), let whole = Int64(parts[0])
    else { throw Problem(node, "is no whole number of 64 bits.") }
    return whole
  }

  private static func double(_ node: JSONNode) throws(Problem) -> Double {
    if case .number(let text) = node.content {
      guard let number = Double(text), number.isFinite else {
        throw Problem(node, "is too great for a number of 64 bits.")
      }
      return number
    }
    guard let text = node.tagged("$double")?.string, let number = special(text) ?? decimal(text) else {
      throw Problem(node, "is no number.")
    }
    return number
  }

  private static func float(_ node: JSONNode) throws(Problem) -> Float {
    if case .number(let text) = node.content {
      guard let number = Double(text), Float(number).isFinite else {
        throw Problem(node, "is too great for a number of 32 bits.")
      }
      return Float(number)
    }
    guard let text = node.tagged("$float")?.string else { throw Problem(node, "is no number.") }
    if text.hasPrefix("NaN:") {
      let bits = Hexadecimal.bytes(text.dropFirst(4)).flatMap {
        $0.count == 4 ? UInt32(text.dropFirst(4), radix: 16) : nil
      }
      guard let number = bits.map({ Float(bitPattern: $0) }), number.isNaN else {
        throw Problem(node, "is no number.")
      }
      return number
    }
    guard let number = special(text) ?? decimal(text) else { throw Problem(node, "is no number.") }
    let float = Float(number)
    guard float.isFinite || !number.isFinite else {
      throw Problem(node, "is too great for a number of 32 bits.")
    }
    return float
  }

  /// The number that decimal digits give; nil if the text has other characters, or the number is too great.
  private static func decimal(_ text: String) -> Double? {
    guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
    return Double(text).flatMap { $0.isFinite ? $0 : nil }
  }

  /// The number that a text names because JSON has no form for it; nil if the text names none.
  private static func special(_ text: String) -> Double? {
    switch text {
    case "Infinity": return .infinity
    case "-Infinity": return -.infinity
    case "-0.0": return -0.0
    default:
      guard text.hasPrefix("NaN:"), text.utf8.count == 20,
        let number = UInt64(text.dropFirst(4), radix: 16).map({ Double(bitPattern: $0) }), number.isNaN
      else { return nil }
      return number
    }
  }

  private static func date(_ node: JSONNode) throws(Problem) -> Timestamp {
    if let text = node.string {
      guard let moment = DateText.moment(text) else {
        throw Problem(node, "is no date of ISO 8601, as 2020-01-31T12:00:00Z.")
      }
      return moment
    }
    guard let parts = node.tagged("$date")?.array, parts.count == 2 else {
      throw Problem(node, "is no date of ISO 8601, as 2020-01-31T12:00:00Z.")
    }
    let nanoseconds = try integer(parts[1])
    guard (0..<1_000_000_000).contains(nanoseconds) else {
      throw Problem(parts[1], "are no nanoseconds of a second.")
    }
    return Timestamp(seconds: try integer(parts[0]), nanoseconds: Int32(nanoseconds))
  }

  private static func decimal(_ node: JSONNode) throws(Problem) -> SixteenBytes {
    if let digits = node.tagged("$decimal128")?.string {
      guard let bytes = Hexadecimal.bytes(digits), bytes.count == 16 else {
        throw Problem(node, "is no decimal of 16 bytes.")
      }
      return SixteenBytes(bytes)
    }
    let text: String? = if case .number(let text) = node.content { text } else { node.string }
    guard let text, let number = DecimalNumber(parsingExactly: text) else {
      throw Problem(node, "is no decimal number of at most 34 digits.")
    }
    return number.stored
  }
}
