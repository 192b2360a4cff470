import RealmStorage
import RealmTestSupport

/// Gives random and changed meta pages to their decoder.
struct Decoders {
  let samples: [Sample]

  private static let checksum = 464
  private struct Original {
    let page: [UInt8]
    let cipher: NodeCipher?
  }

  func run(_ part: Part) throws {
    let originals = try originals()
    for number in 0..<(part.isQuick ? 15_000 : 300_000) {
      var generator = part.generator(number)
      let original = originals[generator.below(originals.count)]
      try part.state("page \(number)") {
        if generator.chance(30) {
          try readRandom(&generator)
        } else {
          try readChanged(original, &generator)
        }
      }
    }
  }

  private func originals() throws -> [Original] {
    var originals: [Original] = []
    for sample in samples {
      for start in [0, FilePlace.page] {
        let page = Array(sample.bytes[start..<start + FilePlace.page])
        guard case .sound(let meta) = MetaPage.read(page) else {
          throw Violation("a sample's meta page is not sound")
        }
        var cipher: NodeCipher?
        if let key = sample.key {
          let made = try NodeCipher(key: key, salt: meta.constants.salt, fileID: meta.constants.fileID)
          guard MetaPage.isAuthentic(page, cipher: made) else {
            throw Violation("a sample's page is not authentic")
          }
          cipher = made
        }
        originals.append(Original(page: page, cipher: cipher))
      }
    }
    return originals
  }

  private func readRandom(_ generator: inout SeededGenerator) throws {
    let page = generator.bytes(generator.chance(50) ? FilePlace.page : generator.below(FilePlace.page + 100))
    if case .sound = MetaPage.read(page) { throw Violation("wrong: random bytes are a sound page") }
  }

  private func readChanged(_ original: Original, _ generator: inout SeededGenerator) throws {
    var page = original.page
    for _ in 0...generator.below(4) { change(&page, &generator) }
    let hasSum = generator.chance(60)
    if hasSum {
      let sum = LocalChecksum.of(page[..<Self.checksum])
      page.store(sum, at: Self.checksum)
    }
    if generator.chance(10) { page = Array(page.prefix(generator.below(page.count))) }
    guard case .sound(let meta) = MetaPage.read(page), page != original.page else { return }
    guard hasSum else { throw Violation("wrong: a changed page is sound") }
    try expect(page, says: meta)
    if let cipher = original.cipher, MetaPage.isAuthentic(page, cipher: cipher) {
      throw Violation("wrong: a page forged without the key is authentic")
    }
  }

  /// Changes one byte, or sets a whole field to an extreme value.
  private func change(_ page: inout [UInt8], _ generator: inout SeededGenerator) {
    if generator.chance(50) {
      page[generator.below(Self.checksum)] ^= UInt8(1 + generator.below(255))
    } else {
      page.store(extremeValue(&generator), at: 8 * generator.below(Self.checksum / 8))
    }
  }

  /// Checks that the decoded page has everything that a sound page says: it must have the same bytes when it is encoded
  /// again.
  private func expect(_ page: [UInt8], says meta: MetaPage) throws {
    guard Array(meta.encoded(cipher: nil)[..<Self.checksum]) == Array(page[..<Self.checksum]) else {
      throw Violation("wrong: a decoded page is not what stands there")
    }
  }
}

/// A number at which code for counts, lengths and offsets often fails.
func extremeValue(_ generator: inout SeededGenerator) -> UInt64 {
  switch generator.below(7) {
  case 0: 0
  case 1: UInt64.max
  case 2: UInt64(generator.below(16))
  case 3: UInt64(generator.below(70_000))
  case 4: UInt64(1) << UInt64(generator.below(64))
  case 5: (UInt64(1) << UInt64(generator.below(64))) &- 1
  default: generator.next()
  }
}
