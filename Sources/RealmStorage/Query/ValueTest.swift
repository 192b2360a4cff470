/// A test of one value, as `Predicate` describes it.
enum ValueTest {
  case compare(Comparison, Value)
  case text(TextTest)
  case isIn([Value])
  case between(Value, Value)
  /// Of a list.
  case count(Comparison, Int)

  /// - Parameter ordersNull: see `Comparison.holds`.
  func holds(_ value: Value, ordersNull: Bool) -> Bool {
    switch self {
    case .compare(let comparison, let other): comparison.holds(value, other, ordersNull: ordersNull)
    case .text(let test): test.holds(value)
    case .isIn(let others):
      others.contains { Comparison.equal.holds(value, $0, ordersNull: false) }
    case .between(let low, let high):
      Comparison.greaterOrEqual.holds(value, low, ordersNull: ordersNull)
        && Comparison.lessOrEqual.holds(value, high, ordersNull: ordersNull)
    case .count(let comparison, let number):
      if case .list(let elements) = value { comparison.holds(elements.count, number) } else { false }
    }
  }
}

extension Comparison {
  func holds(_ left: Int, _ right: Int) -> Bool { holds(left < right ? -1 : left == right ? 0 : 1) }
}

/// A test of a string or data, with what it looks for prepared.
struct TextTest {
  let match: TextMatch
  let ignoresCase: Bool
  /// What is looked for; small letters only, where case is ignored. Nil for null.
  let needle: [UInt8]?
  /// Strings are tested, else data.
  let isString: Bool

  /// - Parameter isString: what the column holds.
  init(_ match: TextMatch, _ value: Value, ignoringCase: Bool, isString: Bool) {
    ignoresCase = ignoringCase
    self.isString = isString
    switch value {
    case .string(let text) where isString:
      needle = ignoringCase ? LatinCase.folded(Array(text.utf8)) : Array(text.utf8)
      self.match = match
    case .data(let bytes) where !isString:
      needle = ignoringCase ? LatinCase.folded(bytes) : bytes
      self.match = match
    case .null:
      needle = nil
      self.match = match
    default:
      // Nothing equals what is of another kind; to contain null passes nothing.
      needle = nil
      self.match = match == .notEqual ? .notEqual : .contains
      isForeign = true
    }
  }

  private var isForeign = false

  func holds(_ value: Value) -> Bool {
    switch value {
    case .null: holdsForNull
    case .string(let text): isString ? holds(Array(text.utf8)) : match == .notEqual
    case .data(let bytes): isString ? match == .notEqual : holds(bytes)
    default: match == .notEqual
    }
  }

  var holdsForNull: Bool {
    switch match {
    case .equal, .like: needle == nil
    case .notEqual: needle != nil || isForeign
    case .contains, .begins, .ends: false
    }
  }

  func holds(_ bytes: [UInt8]) -> Bool {
    guard let needle else { return match == .notEqual }
    let bytes = ignoresCase ? LatinCase.folded(bytes) : bytes
    switch match {
    case .equal: return bytes == needle
    case .notEqual: return bytes != needle
    case .contains: return !needle.isEmpty && Self.contains(bytes, needle)
    case .begins: return !needle.isEmpty && bytes.starts(with: needle)
    case .ends:
      return !needle.isEmpty && bytes.count >= needle.count && bytes.suffix(needle.count) == needle[...]
    case .like: return Self.isLike(bytes, needle, isString: isString)
    }
  }

  private static func contains(_ bytes: [UInt8], _ needle: [UInt8]) -> Bool {
    guard bytes.count >= needle.count else { return false }
    for start in 0...bytes.count - needle.count where bytes[start] == needle[0] {
      if bytes[start..<start + needle.count] == needle[...] { return true }
    }
    return false
  }

  /// Takes time in proportion to the product of the lengths at most.
  private static func isLike(_ bytes: [UInt8], _ pattern: [UInt8], isString: Bool) -> Bool {
    var (at, next) = (0, 0)
    // Where to go on when what follows the last star does not fit.
    var star: (next: Int, at: Int)?
    while at < bytes.count {
      if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
        star = (next + 1, at)
        next += 1
      } else if next < pattern.count, pattern[next] == UInt8(ascii: "?") {
        at += 1
        while isString, at < bytes.count, bytes[at] & 0xc0 == 0x80 { at += 1 }
        next += 1
      } else if next < pattern.count, pattern[next] == bytes[at] {
        (at, next) = (at + 1, next + 1)
      } else if let back = star {
        star = (back.next, back.at + 1)
        (next, at) = (back.next, back.at + 1)
      } else {
        return false
      }
    }
    while next < pattern.count, pattern[next] == UInt8(ascii: "*") { next += 1 }
    return next == pattern.count
  }
}

/// Letters that differ in case only: A to Z, and U+00C0 to U+00DE but U+00D7. Their small ones have as many bytes.
enum LatinCase {
  static func folded(_ bytes: [UInt8]) -> [UInt8] {
    var folded = bytes
    var last: UInt8 = 0
    for index in bytes.indices {
      let byte = bytes[index]
      let isASCII = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
      let isLatin = last == 0xc3 && byte >= 0x80 && byte <= 0x9e && byte != 0x97
      if isASCII || isLatin { folded[index] = byte + 0x20 }
      last = byte
    }
    return folded
  }
}
