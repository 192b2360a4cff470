/// A token of one or two characters that are not letters.
enum Symbol: String, CaseIterable {
  case openParenthesis = "("
  case closeParenthesis = ")"
  case openBracket = "["
  case closeBracket = "]"
  case openBrace = "{"
  case closeBrace = "}"
  case comma = ","
  case dot = "."
  case plus = "+"
  case minus = "-"
  case times = "*"
  case divided = "/"
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case and = "&&"
  case or = "||"
  case not = "!"

  /// The longest symbol at an offset, with its length; nil if none is there.
  static func scan(_ source: SourceText, at offset: Int) -> (symbol: Symbol, length: Int)? {
    let two = pair(source[offset], source[offset + 1])
    if let two { return (two, 2) }
    return single(source[offset]).map { ($0, 1) }
  }

  private static func pair(_ first: UInt8, _ second: UInt8) -> Symbol? {
    switch (UnicodeScalar(first), UnicodeScalar(second)) {
    case ("=", "="): .equal
    case ("!", "="), ("<", ">"): .notEqual
    case ("<", "="), ("=", "<"): .lessOrEqual
    case (">", "="), ("=", ">"): .greaterOrEqual
    case ("&", "&"): .and
    case ("|", "|"): .or
    default: nil
    }
  }

  private static func single(_ byte: UInt8) -> Symbol? {
    switch UnicodeScalar(byte) {
    case "(": .openParenthesis
    case ")": .closeParenthesis
    case "[": .openBracket
    case "]": .closeBracket
    case "{": .openBrace
    case "}": .closeBrace
    case ",": .comma
    case ".": .dot
    case "+": .plus
    case "-": .minus
    case "*": .times
    case "/": .divided
    case "=": .equal
    case "<": .less
    case ">": .greater
    case "!": .not
    default: nil
    }
  }
}
