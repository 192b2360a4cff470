import CRealmPlatform

/// Texts and data that are stored one after another, as in pieces.
package enum PackedTexts {
  /// How texts are folded before their bytes are compared.
  package struct Folding: OptionSet, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// A to Z, and U+00C0 to U+00DE without U+00D7, in UTF-8, become small letters. Bytes that are no UTF-8 may be
    /// folded like this too.
    package static let latinCase = Folding(rawValue: CP_FOLD_LATIN)
    /// Simple case folding of Unicode 14.0.
    package static let unicodeCase = Folding(rawValue: CP_FOLD_CASE)
    /// Canonical decomposition by Unicode 14.0, without nonspacing marks. Other marks are put in canonical order afterwards.
    package static let marks = Folding(rawValue: CP_FOLD_MARKS)

    /// Whether scalars of texts are folded, so that lengths change.
    var foldsScalars: Bool { !isDisjoint(with: [.unicodeCase, .marks]) }
  }

  /// The constant that texts are compared with.
  package struct Needle {
    package enum Match: Int32 {
      case equal = 0
      case begins = 1
      case ends = 2
      case contains = 3
      case like = 4
    }

    package let match: Match
    /// The bytes of the constant after folding.
    package let bytes: [UInt8]
    package let folding: Folding
    /// Whether the bytes are UTF-8; otherwise they may be any bytes.
    package let isText: Bool

    /// - Precondition: data is folded by `latinCase` at most.
    package init(_ match: Match, _ bytes: [UInt8], folding: Folding, isText: Bool) {
      precondition(isText || !folding.foldsScalars, "data has no scalars to fold")
      self.match = match
      let bytes = match == .like ? Self.withoutRepeatedStars(bytes) : bytes
      self.bytes = PackedTexts.folded(bytes, folding)
      self.folding = folding
      self.isText = isText
    }

    /// The pattern without repeated stars. Several stars one after another mean the same as one star, and each would
    /// cost time for every text.
    private static func withoutRepeatedStars(_ pattern: [UInt8]) -> [UInt8] {
      let star = UInt8(ascii: "*")
      var last: UInt8?
      return pattern.filter { byte in
        defer { last = byte }
        return byte != star || last != star
      }
    }

    @inline(__always)
    fileprivate func with<Result>(
      _ folding: Folding, _ body: (UnsafePointer<cp_text_test>) -> Result
    ) -> Result {
      bytes.withUnsafeBufferPointer { needle in
        var test = cp_text_test(
          needle: needle.baseAddress, length: needle.count, match: match.rawValue, folds: folding.rawValue,
          characters: isText ? 1 : 0)
        return body(&test)
      }
    }

    package func passes(_ text: RawSpan) -> Bool {
      if folding.foldsScalars, text.byteCount > CP_LONGEST_FOLDED, !PackedTexts.isASCII(text) {
        let folded = PackedTexts.folded(text, folding)
        return passes(folded.span.bytes, [])
      }
      return passes(text, folding)
    }

    @inline(__always)
    private func passes(_ text: RawSpan, _ folding: Folding) -> Bool {
      text.withUnsafeBytes { text in
        with(folding) { cp_text_passes(text.bindMemory(to: UInt8.self).baseAddress, text.count, $0) != 0 }
      }
    }
  }

  /// The texts that pass. Texts whose end has a flag do not pass.
  ///
  /// - Precondition: there are `rows` ends, and none is past the heap.
  package static func mask(ends: RawSpan, heap: RawSpan, rows: Int, _ needle: Needle) -> RowMask {
    precondition(2 * rows <= ends.byteCount, "ends outside of their piece")
    return ends.withUnsafeBytes { ends in
      heap.withUnsafeBytes { heap in
        needle.with(needle.folding) { test in
          RowMask(count: rows) { cp_mask_texts(ends.baseAddress, heap.baseAddress, rows, test, $0) }
        }
      }
    }
  }

  /// The texts whose end has the flag.
  package static func flagged(ends: RawSpan, rows: Int, _ flag: UInt16) -> RowMask {
    precondition(2 * rows <= ends.byteCount, "ends outside of their piece")
    return ends.withUnsafeBytes { ends in
      RowMask(count: rows) { cp_mask_flagged(ends.baseAddress, rows, flag, $0) }
    }
  }

  /// A text after folding. If scalars are folded, bytes that are no UTF-8 stay as they are.
  ///
  /// A folded text does not change if it is folded again.
  package static func folded(_ bytes: [UInt8], _ folding: Folding) -> [UInt8] {
    folding.isEmpty ? bytes : folded(bytes.span.bytes, folding)
  }

  static func folded(_ text: RawSpan, _ folding: Folding) -> [UInt8] {
    let count = text.byteCount
    if folding.isEmpty { return text.withUnsafeBytes { Array($0) } }
    return text.withUnsafeBytes { text in
      let base = text.bindMemory(to: UInt8.self).baseAddress
      return [UInt8](unsafeUninitializedCapacity: folding.foldsScalars ? foldedRoom(count) : count) {
        buffer, filled in
        if folding.foldsScalars {
          filled = cp_fold_scalars(base, count, folding.rawValue, buffer.baseAddress)
        } else {
          cp_fold(base, count, buffer.baseAddress)
          filled = count
        }
      }
    }
  }

  /// The room for a folded text: the same number as `CP_FOLDED_ROOM`.
  private static func foldedRoom(_ count: Int) -> Int { 3 * count + 8 }

  private static func isASCII(_ text: RawSpan) -> Bool {
    text.withUnsafeBytes { cp_is_ascii($0.bindMemory(to: UInt8.self).baseAddress, $0.count) != 0 }
  }

  /// The first 15 bytes as a number, the first byte highest. Shorter texts are filled up with zeros.
  package static func prefix(_ bytes: RawSpan) -> UInt128 {
    let count = bytes.byteCount
    func word(at offset: Int) -> UInt64 {
      bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
    }
    if count >= 8 {
      // The bytes behind the first 8, which follow them directly, with zeros at the end.
      let rest = count >= 16 ? word(at: 8) : word(at: count - 8) << UInt64(8 * (16 - count))
      return (UInt128(word(at: 0)) << 64 | UInt128(rest)) >> 8
    }
    var number: UInt128 = 0
    for offset in 0..<count {
      number = number << 8 | UInt128(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    }
    return number << UInt128(8 * (15 - count))
  }
}
