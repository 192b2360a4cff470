import Foundation
import RealmInterchange
import RealmTestSupport

extension SeededGenerator {
  /// Scalars that have a special meaning in JSON, CSV, terminals or the tags of values, and the scalars next to them.
  private static let special: [Unicode.Scalar] = [
    "\"", "\\", "/", "\n", "\r", "\t", "\0", ",", ";", "{", "[", "$", "'", "-", "0", "\u{1f}", "\u{7f}",
    "\u{80}", "\u{9f}", "\u{a0}", "\u{301}", "\u{2027}", "\u{2028}", "\u{202e}", "\u{202f}", "\u{2065}",
    "\u{2066}", "\u{2069}", "\u{206a}", "\u{d7ff}", "\u{e000}", "\u{fefe}", "\u{feff}", "\u{ff00}",
    "\u{fffd}", "\u{ffff}", "\u{1f600}", "\u{10ffff}",
  ]

  /// A random scalar of any plane. It is often a special one.
  mutating func scalar() -> Unicode.Scalar {
    if chance(40) { return Self.special[below(Self.special.count)] }
    let limit: UInt32 = [0x80, 0x300, 0x3000, 0x110000][below(4)]
    while true {
      let number = UInt32.random(in: 0..<limit, using: &self)
      if let scalar = Unicode.Scalar(number) { return scalar }
    }
  }

  /// A text of at most `most` scalars.
  mutating func text(_ most: Int) -> String {
    var text = ""
    for _ in 0..<below(most + 1) { text.unicodeScalars.append(scalar()) }
    return text
  }

  /// Changes, removes or adds some bytes. It never adds a byte of `spared`.
  mutating func mutate(_ bytes: inout [UInt8], sparing spared: Set<UInt8> = []) {
    for _ in 0...below(3) {
      let byte: UInt8 =
        chance(50)
        ? UInt8(truncatingIfNeeded: next()) : Array(#"{}[]":,\0123456789eE+-.truefalsn$ "#.utf8)[below(33)]
      if spared.contains(byte) { continue }
      let position = below(bytes.count + 1)
      switch below(3) {
      case 0: bytes.insert(byte, at: position)
      case 1 where position < bytes.count: bytes[position] = byte
      default: if position < bytes.count { bytes.remove(at: position) }
      }
    }
  }
}

/// Calls `body` with an input of these bytes.
func withInput<Result>(_ bytes: [UInt8], _ body: (InputBytes) throws -> Result) throws -> Result {
  try withTemporaryPath { path in
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return try body(try InputBytes(path: path))
  }
}

func withInput<Result>(_ text: String, _ body: (InputBytes) throws -> Result) throws -> Result {
  try withInput(Array(text.utf8), body)
}
