/// Changes valid inputs of a decoder, so that the decoder meets inputs that no encoder writes.
public struct ByteMutator: Sendable {
  /// The form of the inputs.
  public enum Form: Sendable {
    /// Fields of bytes. Numbers are varints, and a length stands before the bytes that it counts.
    case binary
    /// Text.
    ///
    /// - Parameter words: the words that mean something to the decoder.
    case text(words: [String])
  }

  private let words: [[UInt8]]
  /// The greatest number of bytes of a changed input.
  private let most: Int

  private static let edges: [UInt8] = [0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff]
  private static let numbers = [
    "0", "-0", "1", "-1", "127", "128", "255", "256", "65536", "2147483648", "-2147483649",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e400",
    "1e-400", "0.1", "1.", "NaN", "99999999999999999999999999999999999999999",
  ]
  /// Byte sequences that are not valid UTF-8.
  private static let noTexts: [[UInt8]] = [
    [0x80], [0xc3], [0xf0, 0x9f], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc0, 0x80],
  ]
  /// Texts with a combining character, invisible characters, and characters of several bytes.
  private static let oddTexts = [
    "\0", "\u{301}", "\u{2028}", "\u{202e}", "\u{feff}", "\u{10ffff}", "é", "😀", "\r\n", "\t",
  ]

  public init(_ form: Form, most: Int = 4096) {
    switch form {
    case .binary: words = []
    case .text(let words):
      let texts = words + Self.numbers + Self.oddTexts
      self.words = texts.map { Array($0.utf8) } + Self.noTexts
    }
    self.most = most
  }

  /// Makes an input, mostly by some changes to one of the samples.
  ///
  /// - Parameter samples: the samples, at least one.
  public func input(of samples: [[UInt8]], _ generator: inout FuzzGenerator) -> [UInt8] {
    var made = generator.pick(samples)
    switch generator.below(100) {
    case 0, 1: return made
    case 2: return generator.bytes(generator.below(64))
    default: break
    }
    repeat { change(&made, samples, &generator) } while generator.chance(45)
    if made.count > most { made.removeSubrange(most...) }
    return made
  }

  private func change(
    _ bytes: inout [UInt8], _ samples: [[UInt8]], _ generator: inout FuzzGenerator
  ) {
    guard !bytes.isEmpty else {
      bytes = generator.bytes(1 + generator.below(12))
      return
    }
    let place = generator.below(bytes.count)
    let end = min(bytes.count, place + 1 + generator.below(8))
    switch generator.below(14) {
    case 0: bytes[place] ^= 1 << UInt8(generator.below(8))
    case 1: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
    case 2: bytes[place] = generator.pick(Self.edges)
    case 3: bytes[place] = bytes[place] &+ UInt8(generator.below(9)) &- 4
    case 4: bytes.removeSubrange(place..<end)
    case 5: if generator.chance(30) { bytes.removeSubrange(place...) } else { bytes.removeLast() }
    case 6: bytes.insert(contentsOf: Array(bytes[place..<end]), at: generator.below(bytes.count + 1))
    case 7: repeatPiece(place..<end, &bytes, &generator)
    case 8:
      let other = generator.pick(samples)
      bytes.replaceSubrange(place..., with: other[generator.below(other.count + 1)...])
    case 9:
      let piece = Array(bytes[place..<end])
      bytes.removeSubrange(place..<end)
      bytes.insert(contentsOf: piece, at: generator.below(bytes.count + 1))
    default:
      if words.isEmpty {
        changeField(at: place, &bytes, &generator)
      } else {
        changeWord(place..<end, &bytes, &generator)
      }
    }
  }

  /// Writes a piece many times in a row, so that brackets are nested deeply.
  private func repeatPiece(_ place: Range<Int>, _ bytes: inout [UInt8], _ generator: inout FuzzGenerator) {
    let takesWord = generator.chance(50) && !words.isEmpty
    let piece = takesWord ? generator.pick(words) : Array(bytes[place])
    let count = 1 << generator.below(9)
    guard piece.count * count <= most else { return }
    bytes.insert(
      contentsOf: Array(repeatElement(piece, count: count).joined()), at: generator.below(bytes.count + 1))
  }

  // MARK: - Fields

  /// Replaces the number of the field at a place.
  private func changeField(at place: Int, _ bytes: inout [UInt8], _ generator: inout FuzzGenerator) {
    let number = generator.extremeNumber()
    switch generator.below(4) {
    case 0, 1: bytes.replaceSubrange(place..<end(ofVarintAt: place, bytes), with: Self.varint(number))
    case 2:
      guard place + 8 <= bytes.count else { return bytes.append(contentsOf: Self.varint(number)) }
      for byte in 0..<8 { bytes[place + byte] = UInt8(truncatingIfNeeded: number >> UInt64(8 * byte)) }
    default: bytes.insert(contentsOf: generator.bytes(1 + generator.below(6)), at: place)
    }
  }

  private func end(ofVarintAt place: Int, _ bytes: [UInt8]) -> Int {
    var end = place
    while end < bytes.count - 1, bytes[end] & 0x80 != 0, end < place + 9 { end += 1 }
    return end + 1
  }

  private static func varint(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = number
    while rest > 0x7f {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
    return bytes
  }

  // MARK: - Words

  private func changeWord(_ place: Range<Int>, _ bytes: inout [UInt8], _ generator: inout FuzzGenerator) {
    let word = generator.pick(words)
    if generator.chance(50) {
      bytes.insert(contentsOf: word, at: place.lowerBound)
    } else {
      bytes.replaceSubrange(place, with: word)
    }
  }
}
