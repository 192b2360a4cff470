/// The classes of characters to which a byte of a text belongs.
extension UInt8 {
  var isBlank: Bool {
    self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\n")
      || self == UInt8(ascii: "\r")
  }

  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  /// Whether the byte is an ASCII letter, an underscore, or a part of a character outside ASCII.
  var startsName: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || self == UInt8(ascii: "_") || self >= 0x80
  }

  /// The value of the byte as a hexadecimal digit; nil if it is none.
  var hexDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  var isQuote: Bool { self == UInt8(ascii: "'") || self == UInt8(ascii: "\"") }
}

extension SourceText {
  /// The offset behind the digits that start at an offset; the same offset if there are none.
  func skipDigits(_ offset: Int) -> Int {
    var end = offset
    while self[end].isDigit { end += 1 }
    return end
  }

  /// The offset behind the blanks that start at an offset; the same offset if there are none.
  func skipBlanks(_ offset: Int) -> Int {
    var end = offset
    while self[end].isBlank { end += 1 }
    return end
  }

  /// The offset behind the exponent at an offset; the same offset if there is none.
  func skipExponent(_ offset: Int) -> Int {
    guard self[offset] | 0x20 == UInt8(ascii: "e") else { return offset }
    let sign = self[offset + 1] == UInt8(ascii: "+") || self[offset + 1] == UInt8(ascii: "-") ? 1 : 0
    let digits = offset + 1 + sign
    let end = skipDigits(digits)
    return end > digits ? end : offset
  }

  /// The offset behind the fraction and the exponent of a number whose first digits end at `offset`; nil if it has
  /// neither.
  func skipFraction(_ offset: Int, hasDigits: Bool) -> Int? {
    var end = offset
    if self[end] == UInt8(ascii: ".") {
      let fraction = skipDigits(end + 1)
      if hasDigits || fraction > end + 1 { end = fraction }
    }
    guard hasDigits || end > offset else { return nil }
    end = skipExponent(end)
    return end > offset ? end : nil
  }

  /// Whether a text is at an offset.
  func has(_ text: StaticString, at offset: Int) -> Bool {
    let wanted = text.description.utf8
    return offset + wanted.count <= bytes.count
      && bytes[offset..<(offset + wanted.count)].elementsEqual(wanted)
  }
}
