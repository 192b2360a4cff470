import RealmStorage

/// A number as decimal digits, slow and exact.
struct PlainNumber {
  var isNaN = false
  private var infinity = 0
  /// The decimal digits. The number is their value times ten to the power of `exponent`, and negative if `isNegative`
  /// is true.
  private var digits: [Int] = []
  private var isNegative = false
  private var exponent = 0

  init?(_ value: Value) {
    switch value {
    case .int(let number): self.init(text: "\(number)")
    case .float(let number): self.init(exactly: Double(number), text: Self.name(Double(number)))
    case .double(let number): self.init(exactly: number, text: Self.name(number))
    case .decimal128(let stored):
      let word = stored.bytes.reversed().reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
      let top = word >> 122 & 0x1f
      if top >= 0x1e {
        self.init(text: "0")
        isNaN = top == 0x1f
        infinity = isNaN ? 0 : word >> 127 == 1 ? -1 : 1
      } else {
        let isLong = top >> 3 == 3
        self.init(text: isLong ? "0" : "\(word & (1 << 113 - 1))")
        if digits.count > 34 { self.init(text: "0") }
        exponent += Int(word >> (isLong ? 111 : 113) & 0x3fff) - 6176
        isNegative = word >> 127 == 1
        isDecimal = true
      }
    default: return nil
    }
  }

  private static func name(_ number: Double) -> String {
    Int64(exactly: number).map { "\($0)" } ?? number.description
  }

  /// The text that stands for a number in comparisons with decimals: the text that names a double, or a whole number of
  /// 64 bits itself.
  private var text = ""
  private var isDecimal = false

  private init(text: String) {
    let parts = text.split(separator: "e")
    isNegative = text.hasPrefix("-")
    digits = parts[0].compactMap(\.wholeNumberValue)
    exponent = parts.count > 1 ? Int(parts[1])! : 0
    if let point = parts[0].firstIndex(of: ".") {
      exponent -= parts[0].distance(from: point, to: parts[0].endIndex) - 1
    }
    self.text = text
  }

  /// Makes the number of all decimal digits of a binary fraction.
  private init(exactly number: Double, text: String) {
    guard number.isFinite else {
      self.init(text: "0")
      isNaN = number.isNaN
      infinity = number.isNaN ? 0 : number > 0 ? 1 : -1
      return
    }
    self.init(text: "0")
    self.text = text
    isNegative = number < 0
    guard number != 0 else { return }
    let ulp = number.ulp
    digits = "\(UInt64(abs(number) / ulp))".compactMap(\.wholeNumberValue)
    let power = Int(ulp.exponent)
    for _ in 0..<abs(power) {
      multiply(by: power > 0 ? 2 : 5)
      if power < 0 { exponent -= 1 }
    }
  }

  private mutating func multiply(by factor: Int) {
    var carry = 0
    for index in digits.indices.reversed() {
      carry += digits[index] * factor
      digits[index] = carry % 10
      carry /= 10
    }
    if carry > 0 { digits.insert(carry, at: 0) }
  }

  func order(_ other: PlainNumber) -> Int? {
    if isNaN || other.isNaN { return nil }
    if isDecimal != other.isDecimal, infinity == 0, other.infinity == 0 {
      let (left, right) = (
        isDecimal ? self : PlainNumber(text: text), other.isDecimal ? other : PlainNumber(text: other.text)
      )
      return left.finiteOrder(right)
    }
    if infinity != other.infinity { return infinity < other.infinity ? -1 : 1 }
    return infinity != 0 ? 0 : finiteOrder(other)
  }

  private func finiteOrder(_ other: PlainNumber) -> Int {
    let least = min(exponent, other.exponent)
    let left = digits + Array(repeating: 0, count: exponent - least)
    let right = other.digits + Array(repeating: 0, count: other.exponent - least)
    let width = max(left.count, right.count)
    let leftAll = Array(repeating: 0, count: width - left.count) + left
    let rightAll = Array(repeating: 0, count: width - right.count) + right
    let zero = Array(repeating: 0, count: width)
    let leftSign = leftAll == zero ? 0 : isNegative ? -1 : 1
    let rightSign = rightAll == zero ? 0 : other.isNegative ? -1 : 1
    if leftSign != rightSign { return leftSign < rightSign ? -1 : 1 }
    if leftAll == rightAll { return 0 }
    return leftAll.lexicographicallyPrecedes(rightAll) ? -leftSign : leftSign
  }
}

/// Tests of texts, scalar by scalar.
enum PlainText {
  static func matches(_ value: Value, _ match: TextMatch, _ other: Value, _ options: TextOptions) -> Bool {
    switch match {
    case .equal: return isEqual(value, other, options)
    case .notEqual: return !isEqual(value, other, options)
    default: break
    }
    if value == .null || other == .null { return match == .like && value == other }
    guard let (left, right) = scalars(value, other, options) else { return false }
    if match == .like { return isLike(left[...], right[...]) }
    guard !right.isEmpty, left.count >= right.count else { return false }
    let places = (0...left.count - right.count).filter { Array(left[$0..<$0 + right.count]) == right }
    switch match {
    case .begins: return places.contains(0)
    case .ends: return places.contains(left.count - right.count)
    default: return !places.isEmpty
    }
  }

  private static func isEqual(_ left: Value, _ right: Value, _ options: TextOptions) -> Bool {
    if left == .null || right == .null { return left == right }
    guard let (left, right) = scalars(left, right, options) else { return false }
    return left == right
  }

  /// The bytes of two data values, or the scalars of two texts, folded by the options; nil for other pairs.
  private static func scalars(_ left: Value, _ right: Value, _ options: TextOptions) -> ([UInt32], [UInt32])?
  {
    func folded(_ bytes: [UInt8]) -> [UInt32] {
      let ignoresCase = options.contains(.ignoringCase) || options.contains(.latin1Case)
      return bytes.indices.map { index in
        let (byte, last) = (bytes[index], index == 0 ? 0 : bytes[index - 1])
        let isCapital =
          (0x41...0x5a).contains(byte) || (last == 0xc3 && (0x80...0x9e).contains(byte) && byte != 0x97)
        return UInt32(isCapital && ignoresCase ? byte + 0x20 : byte)
      }
    }
    switch (left, right) {
    case (.string(let left), .string(let right)):
      return (PlainLetters.folded(left, options), PlainLetters.folded(right, options))
    case (.data(let left), .data(let right)): return (folded(left), folded(right))
    default: return nil
    }
  }

  private static func isLike(_ text: ArraySlice<UInt32>, _ pattern: ArraySlice<UInt32>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch first {
    case UInt32(UInt8(ascii: "*")):
      return isLike(text, rest) || (!text.isEmpty && isLike(text.dropFirst(), pattern))
    case UInt32(UInt8(ascii: "?")): return !text.isEmpty && isLike(text.dropFirst(), rest)
    default: return text.first == first && isLike(text.dropFirst(), rest)
    }
  }
}
